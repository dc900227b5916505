//! `fowler presets`: names that several kinds share.

use std::process::{Command, Output};

fn presets(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fowler")).arg("presets").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_name_of_a_device_and_a_scheme_names_both() {
    for name in ["rhio", "hire"] {
        let output = presets(&[name]);
        assert_eq!(output.status.code(), Some(0));
        let file = text(&output.stdout);
        assert!(file.starts_with("#:schema ./device.schema.json\n"), "{file}");
        assert!(file.parse::<toml::Table>().is_ok(), "what is printed is one file");
        let note = format!(
            "note: a scheme has the same name; `fowler presets {name} --kind scheme` prints it\n"
        );
        assert_eq!(text(&output.stderr), note);
        let output = presets(&[name, "--kind", "scheme"]);
        let file = text(&output.stdout);
        assert!(file.starts_with("#:schema ./scheme.schema.json\n"), "{file}");
        assert_eq!(text(&output.stderr), "");
        assert_eq!(presets(&[name, "--kind", "device"]).stdout, presets(&[name]).stdout);
    }
    assert_eq!(text(&presets(&["tlc"]).stderr), "", "nothing else has that name");
}

#[test]
fn a_preset_of_another_kind_is_named() {
    let output = presets(&["tlc", "--kind", "scheme"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "error: unknown scheme `tlc`\n    hint: it is a device\n");
    let output = presets(&["hira", "--kind", "scheme"]);
    assert!(text(&output.stderr).contains("did you mean \"hire\"?"), "{output:?}");
}

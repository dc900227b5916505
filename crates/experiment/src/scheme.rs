//! Schemes: named sets of policy choices. `a+b` joins them.

use crate::document::{self, Setting};
use crate::presets;
use crate::problem::{Problem, Problems};

/// A set of settings under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    name: String,
    settings: Vec<Setting>,
}

impl Scheme {
    /// No choices: the drive as its description has it.
    pub fn none() -> Scheme {
        Scheme { name: "as described".into(), settings: Vec::new() }
    }

    /// The scheme of that name, of a file that ends in `.toml`, or of several joined by `+`.
    pub fn load(name: &str) -> Result<Scheme, Problems> {
        let mut problems = Problems::default();
        let mut joined: Vec<(&str, Setting)> = Vec::new();
        for part in name.split('+').map(str::trim) {
            let opened = presets::open(presets::Folder::Schemes, part);
            let Some(source) = problems.take(opened) else { continue };
            let (settings, syntax) = document::read_toml(&source.text, &source.name);
            problems.0.extend(syntax.0);
            for setting in settings {
                match joined.iter().find(|(_, other)| same_key(&other.path, &setting.path)) {
                    None => joined.push((part, setting)),
                    Some((_, other)) if other.value == setting.value => {}
                    Some((first, other)) => {
                        problems.push(conflict(name, first, other, part, &setting))
                    }
                }
            }
        }
        let settings = joined.into_iter().map(|(_, setting)| setting).collect();
        problems.or(Scheme { name: name.into(), settings })
    }

    /// Its name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }
}

fn same_key(left: &str, right: &str) -> bool {
    let slot = |path: &str| path.strip_suffix(".name").map(str::to_string);
    slot(left).as_deref().unwrap_or(left) == slot(right).as_deref().unwrap_or(right)
}

fn conflict(name: &str, first: &str, one: &Setting, second: &str, other: &Setting) -> Problem {
    let key = one.path.strip_suffix(".name").unwrap_or(&one.path);
    let what = format!("`{first}` and `{second}` both set `{key}`, to different values");
    Problem::new(format!("scheme {name}"), what)
        .text(&format!("{} | {}", one.origin.text, other.origin.text))
        .hint("leave one of them out".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_that_agree_join() {
        let joined = Scheme::load("rps+per").unwrap();
        assert_eq!(joined.name(), "rps+per");
        assert!(Scheme::load("pes_ips").is_ok());
    }

    #[test]
    fn schemes_that_differ_are_both_named() {
        let problems = Scheme::load("pes_ips+pes_ipc").unwrap_err();
        assert_eq!(problems.0.len(), 1);
        assert!(
            problems.0[0].what.contains("`pes_ips` and `pes_ipc` both set `policy.suspension`")
        );
    }

    #[test]
    fn a_misspelt_scheme_finds_its_name() {
        let problems = Scheme::load("pes_icp").unwrap_err();
        assert_eq!(problems.0[0].hint.as_deref(), Some("did you mean \"pes_ipc\"?"));
    }
}

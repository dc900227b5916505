//! Schemes: named sets of policies. `a+b` combines two schemes, and so does a scheme file with
//! `join = "a+b"`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::{self, Setting, Value};
use crate::field::{Field, nearest};
use crate::json_schema::{self, configuration};
use crate::{keys, presets};
use fowler_device::policy::custom::Policies;
use serde_json::{Value as Json, json};

/// Scheme name of a drive without a scheme, in results and in lists of schemes.
pub const NO_SCHEME: &str = "as described";

/// A scheme: a named set of settings that choose policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    name: String,
    settings: Vec<Setting>,
    policies: Policies,
}

impl Scheme {
    /// Returns the empty scheme, which leaves the drive as described.
    pub fn none() -> Scheme {
        Scheme { name: NO_SCHEME.into(), settings: Vec::new(), policies: Policies::default() }
    }

    /// Loads a scheme by its name, from a file that ends in `.toml`, or from several joined by `+`.
    /// [`NO_SCHEME`] is the empty scheme.
    pub fn load(name: &str) -> Result<Scheme, Diagnostics> {
        Scheme::load_with(name, &[])
    }

    /// Loads a scheme like [`Scheme::load`], where some names may be those of custom policies. A
    /// custom policy overrides the policy that another scheme chooses for the same task.
    pub fn load_with(name: &str, custom: &[(String, Policies)]) -> Result<Scheme, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let find = |part: &&str| custom.iter().find(|(custom_name, _)| custom_name == part);
        let parts_of_name = name.split('+').map(str::trim).filter(|part| *part != NO_SCHEME);
        let (ours, named): (Vec<&str>, Vec<&str>) =
            parts_of_name.partition(|part| find(part).is_some());
        let mut policies = Policies::default();
        for (part, more) in ours.iter().filter_map(find) {
            if let Err(key) = policies.join(more) {
                let what = format!("`{part}` is a second custom policy for `{key}` in this scheme");
                let diagnostic = Diagnostic::new(format!("scheme {name}"), what);
                diagnostics
                    .push(diagnostic.hint("leave out one of the two custom policies".to_string()));
            }
        }
        let sum = if named.is_empty() {
            Ok(Vec::new())
        } else {
            parts(&named.join("+"), &[], &mut Vec::new())
        };
        let mut joined: Vec<(String, Setting)> = Vec::new();
        for (part, setting) in diagnostics.take(sum).unwrap_or_default() {
            if let Some(diagnostic) = beyond(&setting) {
                diagnostics.push(diagnostic);
                continue;
            }
            match joined.iter_mut().find(|(_, other)| same_key(&other.path, &setting.path)) {
                None => joined.push((part, setting)),
                Some((first, other)) => match both(other, &setting) {
                    Some(value) => other.value = value,
                    None => diagnostics.push(conflict(name, first, other, &part, &setting)),
                },
            }
        }
        let settings = joined.into_iter().map(|(_, setting)| setting).collect();
        diagnostics.or(Scheme { name: name.into(), settings, policies })
    }

    /// Returns the name of the scheme as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the settings of the scheme, in the order of its text.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the custom policies that the scheme chooses.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }
}

/// The key with which a scheme file names the schemes that it combines.
const JOIN: &str = "join";

/// Longest chain of schemes that include one another.
const DEEPEST: usize = 32;

/// Returns each setting, with its scheme's name, of the schemes in `name` (joined by `+`) and of
/// those that they include with the key `join`. `above`: schemes that include `name`, outermost
/// first. `done`: schemes that were already read, which are skipped.
fn parts(
    name: &str,
    above: &[&str],
    done: &mut Vec<String>,
) -> Result<Vec<(String, Setting)>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut all = Vec::new();
    for part in name.split('+').map(str::trim) {
        if done.iter().any(|earlier| earlier == part) {
            continue;
        }
        let opened = presets::open(presets::Folder::Schemes, part);
        let Some(source) = diagnostics.take(opened) else { continue };
        let (settings, syntax) = document::read_toml(&source.text, &source.name);
        if settings.is_empty() && syntax.0.is_empty() {
            let diagnostic = Diagnostic::new(&*source.name, "this scheme sets nothing");
            diagnostics.push(
                diagnostic.expected(
                    "settings in the table [policy], or the key `join` with other schemes",
                ),
            );
        }
        diagnostics.0.extend(syntax.0);
        done.push(part.to_string());
        let chain = [above, &[part]].concat();
        for setting in settings {
            if setting.path == JOIN {
                let joined = joined(&setting, &chain, done);
                all.extend(diagnostics.take(joined).unwrap_or_default());
            } else {
                all.push((part.to_string(), setting));
            }
        }
    }
    diagnostics.or(all)
}

/// Returns the settings of the schemes that the key `join` of a scheme includes. `chain` lists that
/// scheme last, after the schemes that include it.
fn joined(
    join: &Setting,
    chain: &[&str],
    done: &mut Vec<String>,
) -> Result<Vec<(String, Setting)>, Diagnostics> {
    let Value::Text(sum) = &join.value else {
        let diagnostic = join.origin.diagnostic("`join` must be a text with the names of schemes");
        return Err(diagnostic.expected("names joined by +, such as \"rps+per\"").into());
    };
    let ring = sum.split('+').map(str::trim).find(|part| chain.contains(part));
    if let Some(part) = ring {
        let from = chain.iter().position(|link| *link == part).unwrap_or_default();
        let names: Vec<String> =
            chain[from..].iter().chain([&part]).map(|link| format!("`{link}`")).collect();
        let what = format!("the scheme includes itself: {}", names.join(" includes "));
        return Err(join.origin.diagnostic(what).into());
    }
    if chain.len() == DEEPEST {
        let what = format!("schemes include one another more than {DEEPEST} levels deep");
        return Err(join.origin.diagnostic(what).into());
    }
    let here = |mut diagnostic: Diagnostic| {
        // A diagnostic without a file is about the name itself: report it where the name stands.
        if diagnostic.file.is_empty() {
            let Diagnostic { file, line, text, .. } = join.origin.diagnostic("");
            diagnostic = Diagnostic { file, line, text, ..diagnostic };
        }
        diagnostic
    };
    parts(sum, chain, done)
        .map_err(|diagnostics| Diagnostics(diagnostics.0.into_iter().map(here).collect()))
}

/// Pairs of policies of which the second does all that the first does and more: (key, first,
/// second). If combined schemes set the key to both, the second policy is used. See
/// docs/decisions/policy.md, "What do `read_first` and `rhio` combine to?".
const REFINEMENTS: [(&str, &str, &str); 1] = [("policy.die_order", "read_first", "rhio")];

/// Returns the value that satisfies two schemes that set the same key; `None` if the schemes
/// conflict.
fn both(one: &Setting, other: &Setting) -> Option<Value> {
    if one.value == other.value {
        return Some(one.value.clone());
    }
    if let (Value::List(left), Value::List(right)) = (&one.value, &other.value) {
        let is_set = |key: &keys::Key<_>| {
            same_key(key.path, &one.path) && matches!(key.field, Field::Set(..))
        };
        let more = right.iter().filter(|value| !left.contains(value));
        let union = || Value::List(left.iter().chain(more).cloned().collect());
        return keys::all().iter().any(is_set).then(union);
    }
    let refined = REFINEMENTS.iter().find(|(key, general, special)| {
        let pair = [general, special].map(|word| Value::Text((*word).to_string()));
        let values = [&one.value, &other.value];
        same_key(key, &one.path) && pair.iter().all(|value| values.contains(&value))
    });
    refined.map(|(_, _, special)| Value::Text((*special).to_string()))
}

/// Keys outside `[policy]` that a scheme may set: a data cache is part of hybrid caching.
const ALSO: [&str; 2] = ["timing.program_erase", "buffer.ack"];

/// Returns true if a scheme may set the configuration key `path`.
fn may_set(path: &str) -> bool {
    path.starts_with("policy.") || ALSO.contains(&path)
}

/// Returns the JSON Schema of a file that describes a scheme.
pub fn schema() -> Json {
    let mut keys = keys::all();
    keys.retain(|key| may_set(key.path));
    let mut tree = configuration::of_keys(&keys, None);
    let about = "schemes whose settings this scheme combines, joined by +";
    tree.insert(JOIN, json!({ "type": "string", "description": about }), false);
    let about = "A scheme: policy choices that --scheme and --schemes name. `fowler presets all` prints one. \
                 Keys that the scheme does not set keep the drive's values.";
    json_schema::document("Fowler: a scheme", about, tree.schema())
}

/// Rejects a setting of a scheme that is no policy: schemes are compared on one drive, which a
/// scheme must not change.
fn beyond(setting: &Setting) -> Option<Diagnostic> {
    let path = setting.path.as_str();
    let empty = setting.value == Value::EmptyTable && path == "timing";
    if path == "policy" || may_set(path) || empty {
        return None;
    }
    let known = keys::all().iter().any(|key| key.path == path);
    let all = keys::all();
    let allowed = all.iter().map(|key| key.path).filter(|key| may_set(key));
    let near = nearest(path, allowed).filter(|_| !known);
    let hint = near.map_or_else(
        || format!("set it for all schemes, in the device file or with --set {path}=..."),
        |near| format!("did you mean `{near}`?"),
    );
    let what = format!("a scheme cannot set `{}`", crate::diagnostic::printable(path));
    let diagnostic = setting.origin.diagnostic(what).hint(hint);
    Some(diagnostic.expected(format!("keys of [policy], {}", ALSO.join(" or "))))
}

fn same_key(left: &str, right: &str) -> bool {
    let slot = |path: &str| path.strip_suffix(".name").map(str::to_string);
    slot(left).as_deref().unwrap_or(left) == slot(right).as_deref().unwrap_or(right)
}

fn conflict(name: &str, first: &str, one: &Setting, second: &str, other: &Setting) -> Diagnostic {
    let key = one.path.strip_suffix(".name").unwrap_or(&one.path);
    let what = format!("`{first}` and `{second}` both set `{key}`, to different values");
    Diagnostic::new(format!("scheme {name}"), what)
        .text(format!("{} | {}", one.origin.text, other.origin.text))
        .hint(
            "leave out one of these two schemes, which set the key to different values".to_string(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_that_agree_join() {
        let joined = Scheme::load("rps+per").unwrap();
        assert_eq!(joined.name(), "rps+per");
        assert!(Scheme::load("pes_ips").is_ok());
        for joined in ["pes_ipc+ready_opt", "ready_pes+pes_ipc+rhio", "hire+dt"] {
            assert!(Scheme::load(joined).is_ok(), "{joined}");
        }
        assert!(Scheme::load("st+dt").is_err());
        let all = Scheme::load("all").unwrap();
        let sum = Scheme::load("pes_ipc+rhio+hire+ready_opt+da_raid5").unwrap();
        assert_eq!(all.settings, sum.settings);
        assert_eq!(Scheme::load("all+rhio").unwrap().settings, sum.settings);
    }

    #[test]
    fn sets_join_and_what_does_more_stands_for_both() {
        let value = |name: &str, path: &str| {
            let scheme = Scheme::load(name).unwrap();
            let setting = scheme.settings.iter().find(|setting| same_key(&setting.path, path));
            setting.map(|setting| setting.value.clone())
        };
        for name in ["pes_ipc+rhio", "rhio+pes_ipc"] {
            let expected = Some(Value::Text("rhio".into()));
            assert_eq!(value(name, "policy.die_order"), expected, "{name}");
        }
        let setting = |text: &str| document::read_toml(text, "s.toml").0.remove(0);
        let inputs = |list: &str| setting(&format!("policy.sensing.inputs = {list}"));
        let joined = both(&inputs("['age']"), &inputs("['voltage', 'age']"));
        assert_eq!(joined, Some(inputs("['age', 'voltage']").value));
        assert_eq!(Scheme::load("fifo+rhio").unwrap_err().0.len(), 1);
    }

    #[test]
    fn custom_policies_join_by_name() {
        use fowler_device::policy::custom::{CustomThrottle, Maker};
        let throttle = |label| Policies {
            throttle: Some(Maker::new(label, || -> Box<dyn CustomThrottle> { unreachable!() })),
            ..Policies::default()
        };
        let custom = [("mine".to_string(), throttle("a")), ("other".to_string(), throttle("b"))];
        let joined = Scheme::load_with("rps + mine", &custom).unwrap();
        assert_eq!(joined.settings, Scheme::load("rps").unwrap().settings);
        assert_eq!(joined.policies, custom[0].1);
        assert!(Scheme::load_with("mine", &custom).unwrap().settings.is_empty());
        let diagnostics = Scheme::load_with("mine+st+other+nothing", &custom).unwrap_err();
        let reported: Vec<&str> =
            diagnostics.0.iter().map(|diagnostic| &*diagnostic.what).collect();
        let second = "`other` is a second custom policy for `policy.throttle` in this scheme";
        assert_eq!(reported, [second, "unknown scheme `nothing`"]);
    }

    #[test]
    fn schemes_that_differ_are_both_named() {
        let diagnostics = Scheme::load("pes_ips+pes_ipc").unwrap_err();
        assert_eq!(diagnostics.0.len(), 1);
        assert!(
            diagnostics.0[0].what.contains("`pes_ips` and `pes_ipc` both set `policy.suspension`")
        );
    }

    #[test]
    fn a_scheme_changes_policies_and_nothing_else() {
        let setting = |text: &str| document::read_toml(text, "s.toml").0.remove(0);
        for text in ["policy.victim = 'fifo'", "[timing]\nprogram_erase = 'zero'", "[timing]"] {
            assert_eq!(beyond(&setting(text)), None);
        }
        for (text, hint) in [
            ("timing.read = '1us'", "--set timing.read=..."),
            ("[geometry]\nchannels = 2", "--set geometry.channels=..."),
            ("seed = 2", "--set seed=..."),
            ("polcy.victim = 'fifo'", "did you mean `policy.victim`?"),
        ] {
            let diagnostic = beyond(&setting(text)).unwrap();
            assert!(diagnostic.hint.as_ref().unwrap().contains(hint), "{diagnostic}");
        }
    }

    #[test]
    fn a_misspelt_scheme_finds_its_name() {
        let diagnostics = Scheme::load("pes_icp").unwrap_err();
        assert_eq!(diagnostics.0[0].hint.as_deref(), Some("did you mean \"pes_ipc\"?"));
    }

    /// A scheme included twice is read once; otherwise reading time would double with every level.
    #[test]
    fn schemes_that_include_one_another_twice_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |level: usize| folder.path().join(format!("{level}.toml"));
        let write = |levels: usize| {
            for level in 0..levels {
                let next = path(level + 1).display().to_string();
                std::fs::write(path(level), format!("join = \"{next}+{next}\"")).unwrap();
            }
            std::fs::write(path(levels), "policy.victim = \"fifo\"").unwrap();
            Scheme::load(&path(0).display().to_string())
        };
        assert_eq!(write(DEEPEST - 1).unwrap().settings.len(), 1);
        let deeper = write(2 * DEEPEST).unwrap_err().to_string();
        assert!(deeper.contains("more than 32 levels deep"), "{deeper}");
        std::fs::write(path(0), "# nothing\n").unwrap();
        let empty = Scheme::load(&path(0).display().to_string()).unwrap_err().to_string();
        assert!(empty.contains("0.toml: this scheme sets nothing"), "{empty}");
    }

    /// Errors in the `join` key of a scheme are reported with the file and line.
    #[test]
    fn a_sum_that_is_none_is_said_with_its_file() {
        let [a, b] = ["a", "b"].map(|it| format!("tests/schemes/ring-{it}.toml"));
        for (name, file, what) in [
            (
                "ring-a",
                &b,
                format!("the scheme includes itself: `{a}` includes `{b}` includes `{a}`"),
            ),
            (
                "ring-b",
                &a,
                format!("the scheme includes itself: `{b}` includes `{a}` includes `{b}`"),
            ),
            (
                "list",
                &"tests/schemes/list.toml".into(),
                "`join` must be a text with the names of schemes".into(),
            ),
            ("misspelt", &"tests/schemes/misspelt.toml".into(), "unknown scheme `pes_icp`".into()),
        ] {
            let diagnostics = Scheme::load(&format!("tests/schemes/{name}.toml")).unwrap_err();
            assert_eq!(diagnostics.0.len(), 1, "{diagnostics}");
            let Diagnostic { file: blamed, line, what: reported, .. } = &diagnostics.0[0];
            assert_eq!((blamed, *line, reported), (file, Some(1), &what));
        }
    }
}

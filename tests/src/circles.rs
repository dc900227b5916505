//! Checks that the files of a crate do not import one another in large circles.
//!
//! A file imports another if its code names an item that the other one defines: by a path from
//! `crate::`, `super::` or `self::`, by the name of a child module, or through an alias of either
//! (`use crate::console;` and then `console::print`). Declaring a module (`mod x;`) imports
//! nothing, and neither does naming a module without naming anything in it.
//!
//! Re-exports are doors. `pub use child::Item` in a `mod.rs` is no import, unless other code of
//! the `mod.rs` uses `Item`. Whoever imports `Item` through the door imports the file that defines
//! it. A file that imports what its own `mod.rs` defines imports the `mod.rs`.
//!
//! A table is a declaration. In a macro that declares a module for each of its lines, such as
//! `"lru" => lru::Lru`, these lines are no imports, just as `mod lru;` would be none.
//!
//! Test files and items under `#[cfg(test)]` do not count. A name that no source defines, because
//! a macro does, belongs to the file of the module that it is looked for in.

use crate::rooms::{blanked, sources, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Longest chain of aliases that is followed; an alias of itself ends there.
const ALIASES_MAX: usize = 12;

/// The path of a module from the root of its crate.
type Module = Vec<String>;

/// The names of a module, and the names that its code uses.
#[derive(Default)]
struct Scope {
    file: usize,
    defined: BTreeSet<String>,
    /// Child modules that the source declares, and not a macro.
    declared: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths of at least two words, outside `use`.
    paths: BTreeSet<Vec<String>>,
    /// Paths of at least two words within a macro that stands beside items.
    paths_in_tables: BTreeSet<Vec<String>>,
    /// Single words outside `use`.
    words: BTreeSet<String>,
}

/// One name that a `use` brings into a module.
struct Use {
    path: Vec<String>,
    /// The name in the module; `*` for all names of another.
    name: String,
    is_public: bool,
}

/// Module or item to which a path leads.
#[derive(Clone, Debug)]
enum Target {
    Module(Module),
    /// An item, defined in the file of this index.
    Item(usize),
}

/// The modules of a crate.
struct Crate {
    files: Vec<String>,
    scopes: BTreeMap<Module, Scope>,
}

/// Returns one text for each circle of more than `most` files in the crate at `folder`: the files
/// and the imports that tie them.
///
/// # Panics
/// If a source cannot be read.
pub fn large_circles(folder: &Path, most: usize) -> Vec<String> {
    let sources = Crate::read(folder);
    let imports = sources.imports();
    let circles = circles(&imports, sources.files.len());
    let large = circles.into_iter().filter(|circle| circle.len() > most);
    large.map(|circle| sources.describe(&circle, &imports)).collect()
}

/// For each pair of a file and one that it imports, the paths by which it does.
type Imports = BTreeMap<(usize, usize), BTreeSet<String>>;

impl Crate {
    fn read(folder: &Path) -> Crate {
        let mut paths = Vec::new();
        sources(folder, &mut paths);
        paths.sort();
        let has_library = folder.join("lib.rs").exists();
        let mut krate = Crate { files: Vec::new(), scopes: BTreeMap::new() };
        let mut tests: BTreeSet<Module> = BTreeSet::new();
        let mut texts = Vec::new();
        for path in paths {
            let inside = path.strip_prefix(folder).expect("below the folder");
            let mut module: Module =
                inside.with_extension("").iter().map(|it| it.to_string_lossy().into()).collect();
            let name = module.last().cloned().unwrap_or_default();
            // Beside a library, a program is a crate of its own that imports it by its name.
            if name.ends_with("tests") || has_library && module == ["main"] {
                continue;
            }
            let is_root = module.len() == 1 && ["lib", "main"].contains(&name.as_str());
            if is_root || name == "mod" {
                module.pop();
            }
            let text = blanked(&std::fs::read_to_string(&path).expect("text"));
            for test in test_modules(&words(&text)) {
                tests.insert([&module[..], &[test]].concat());
            }
            texts.push((inside.to_string_lossy().into_owned(), module, text));
        }
        texts.retain(|(_, module, _)| !(1..=module.len()).any(|n| tests.contains(&module[..n])));
        for (file, module, text) in texts {
            krate.files.push(file);
            krate.scan(module, &words(&without_tests(&text)));
        }
        krate
    }

    /// Adds the scopes of the newest file, which is that of `module`.
    fn scan(&mut self, module: Module, words: &[&str]) {
        let file = self.files.len() - 1;
        let mut open = vec![(module.clone(), 0)];
        self.scopes.insert(module, Scope { file, ..Scope::default() });
        let (mut depth, mut at) = (0, 0);
        let mut table = None;
        while at < words.len() {
            let word = words[at];
            let (module, level) = open.last().expect("the file is open");
            let scope = self.scopes.get_mut(module).expect("open modules have scopes");
            let next = |ahead: usize| words.get(at + ahead).copied().unwrap_or_default();
            match word {
                "{" => {
                    let is_macro = at > 1 && words[at - 1] == "!" && depth == *level;
                    depth += 1;
                    table = table.or(is_macro.then_some(depth));
                }
                "}" => {
                    table = table.filter(|&table| table != depth);
                    if depth == *level && open.len() > 1 {
                        open.pop();
                    }
                    depth -= 1;
                }
                "mod" if next(2) == "{" => {
                    let inner = [&module[..], &[next(1).to_string()]].concat();
                    depth += 1;
                    open.push((inner.clone(), depth));
                    self.scopes.insert(inner, Scope { file, ..Scope::default() });
                    at += 2;
                }
                "mod" if next(2) == ";" => {
                    scope.declared.insert(next(1).to_string());
                    at += 2;
                }
                "use" if next(1) != "<" => {
                    let end = words[at..].iter().position(|it| *it == ";").map(|it| at + it);
                    let end = end.unwrap_or(words.len());
                    let is_public = is_public(&words[..at]);
                    tree(&words[at + 1..end], &[], &mut |path, name| {
                        scope.uses.push(Use { path, name: name.into(), is_public });
                    });
                    at = end;
                }
                _ if !is_name(word) => {}
                _ => {
                    let is_field = at > 0 && words[at - 1] == ".";
                    let mut path = vec![word.to_string()];
                    while next(1 + 2 * (path.len() - 1)) == "::" && is_name(next(2 * path.len())) {
                        path.push(next(2 * path.len()).to_string());
                    }
                    let item = if word == "macro_rules" { next(2) } else { next(1) };
                    if depth == *level && ITEMS.contains(&word) && is_name(item) {
                        scope.defined.insert(item.to_string());
                        at += 1;
                    } else if path.len() > 1 {
                        at += 2 * (path.len() - 1);
                        let is_table = table.is_some();
                        let paths =
                            if is_table { &mut scope.paths_in_tables } else { &mut scope.paths };
                        paths.insert(path);
                    } else if !is_field {
                        scope.words.insert(path.remove(0));
                    }
                }
            }
            at += 1;
        }
    }

    /// Returns what `path`, written in `module`, leads to; none outside the crate.
    fn resolve(&self, module: &Module, path: &[String], left: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut found = match first.as_str() {
            "crate" => Target::Module(Module::new()),
            "self" => Target::Module(module.clone()),
            "super" => Target::Module(module[..module.len().checked_sub(1)?].to_vec()),
            name => self.lookup(module, name, !rest.is_empty(), left)?,
        };
        for (at, name) in rest.iter().enumerate() {
            let Target::Module(module) = &found else { break };
            found = match name.as_str() {
                "super" => Target::Module(module[..module.len().checked_sub(1)?].to_vec()),
                name => {
                    let target = self.lookup(module, name, at + 1 < rest.len(), left);
                    target.unwrap_or(Target::Item(self.scopes.get(module)?.file))
                }
            };
        }
        Some(found)
    }

    /// Returns what `name` is in `module`; none if no source says so. A name that more words
    /// follow (`is_prefix`) is a module rather than an item.
    fn lookup(&self, module: &Module, name: &str, is_prefix: bool, left: usize) -> Option<Target> {
        let left = left.checked_sub(1)?;
        let scope = self.scopes.get(module)?;
        let child = [&module[..], &[name.to_string()]].concat();
        let child = self.scopes.contains_key(&child).then_some(Target::Module(child));
        if is_prefix && child.is_some() {
            return child;
        }
        if scope.defined.contains(name) {
            return Some(Target::Item(scope.file));
        }
        let aliases = scope.uses.iter().filter(|it| it.name == name && it.path != [name]);
        let mut aliased = aliases.filter_map(|it| self.resolve(module, &it.path, left));
        if let Some(target) = aliased.next() {
            return Some(target);
        }
        child.or_else(|| {
            let mut globs = scope.uses.iter().filter(|it| it.name == "*");
            globs.find_map(|it| match self.resolve(module, &it.path, left)? {
                Target::Module(other) => self.lookup(&other, name, is_prefix, left),
                Target::Item(_) => None,
            })
        })
    }

    fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (module, scope) in &self.scopes {
            let mut note = |path: &[String]| {
                if let Some(Target::Item(file)) = self.resolve(module, path, ALIASES_MAX)
                    && file != scope.file
                {
                    let names = imports.entry((scope.file, file)).or_default();
                    names.insert(path.join("::"));
                }
            };
            scope.paths.iter().for_each(|path| note(path));
            let of_a_line = |path: &[String]| {
                let child = [&module[..], &path[..1]].concat();
                self.scopes.contains_key(&child) && !scope.declared.contains(&path[0])
            };
            scope.paths_in_tables.iter().filter(|it| !of_a_line(it)).for_each(|path| note(path));
            for it in scope.uses.iter().filter(|it| it.name != "*") {
                if !it.is_public || scope.words.contains(&it.name) {
                    note(&it.path);
                }
            }
            // Names that come in through `*`.
            for word in scope.words.iter().filter(|it| !scope.defined.contains(*it)) {
                if !scope.uses.iter().any(|it| it.name == *word) {
                    note(std::slice::from_ref(word));
                }
            }
        }
        imports
    }

    fn describe(&self, circle: &[usize], imports: &Imports) -> String {
        let names: Vec<&str> = circle.iter().map(|&file| self.files[file].as_str()).collect();
        let mut text = format!("a circle of {} files: {}", names.len(), names.join(", "));
        for ((from, to), paths) in imports {
            if circle.contains(from) && circle.contains(to) {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                let (from, to) = (&self.files[*from], &self.files[*to]);
                text += &format!("\n  {from} imports {to}: {}", paths.join(", "));
            }
        }
        text
    }
}

/// Words before the name of an item.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns true if the last words are `pub` or `pub(...)`.
fn is_public(words: &[&str]) -> bool {
    match words {
        [.., "pub"] => true,
        [before @ .., ")"] => before
            .iter()
            .rposition(|it| *it == "(")
            .is_some_and(|at| before[..at].ends_with(&["pub"])),
        _ => false,
    }
}

/// Calls `found` with the path and the name of each leaf in the tree of a `use`.
fn tree(words: &[&str], before: &[String], found: &mut impl FnMut(Vec<String>, &str)) {
    let mut path = before.to_vec();
    for (at, word) in words.iter().enumerate() {
        match *word {
            "::" => {}
            "{" => {
                let (mut depth, mut start) = (0, at + 1);
                for (end, word) in words.iter().enumerate().skip(at + 1) {
                    match *word {
                        "{" => depth += 1,
                        "}" if depth > 0 => depth -= 1,
                        "," | "}" if depth == 0 => {
                            tree(&words[start..end], &path, found);
                            start = end + 1;
                        }
                        _ => {}
                    }
                }
                return;
            }
            "*" => return found(path, "*"),
            "as" => return found(path, words[at + 1]),
            "self" if !path.is_empty() => {}
            word => path.push(word.to_string()),
        }
    }
    if path.len() > before.len() || words == ["self"] {
        let name = path.last().cloned().unwrap_or_default();
        found(path, &name);
    }
}

/// Returns the modules that are declared under `#[cfg(test)]`.
fn test_modules(words: &[&str]) -> Vec<String> {
    let marks = words.windows(7).enumerate();
    let marks = marks.filter(|(_, it)| *it == ["#", "[", "cfg", "(", "test", ")", "]"]);
    let after = marks.map(|(at, _)| &words[at + 7..]);
    let declared = after.filter_map(|rest| {
        let end = rest.iter().position(|it| [";", "{"].contains(it))?;
        let at = rest[..end].iter().position(|it| *it == "mod")?;
        (rest[end] == ";").then(|| rest[at + 1].to_string())
    });
    declared.collect()
}

/// Returns the names and marks of a text; `::` is one mark.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("::") {
            2
        } else {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            end.unwrap_or(rest.len()).max(first.len_utf8())
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// Returns the strongly connected files of a graph of imports (Tarjan's algorithm).
fn circles(imports: &Imports, files: usize) -> Vec<Vec<usize>> {
    struct Search<'a> {
        imports: &'a Imports,
        /// For each file that was visited, its number and the lowest one that it leads to.
        numbers: Vec<Option<(usize, usize)>>,
        open: Vec<usize>,
        count: usize,
        found: Vec<Vec<usize>>,
    }
    impl Search<'_> {
        fn visit(&mut self, file: usize) -> usize {
            let number = self.count;
            self.count += 1;
            let mut lowest = number;
            self.numbers[file] = Some((number, lowest));
            self.open.push(file);
            let others = self.imports.range((file, 0)..(file + 1, 0)).map(|((_, other), _)| *other);
            for other in others.collect::<Vec<_>>() {
                lowest = lowest.min(match self.numbers[other] {
                    None => self.visit(other),
                    Some((number, _)) if self.open.contains(&other) => number,
                    Some(_) => lowest,
                });
            }
            self.numbers[file] = Some((number, lowest));
            if lowest == number {
                let at = self.open.iter().position(|it| *it == file).expect("it is open");
                let mut circle = self.open.split_off(at);
                circle.sort_unstable();
                self.found.push(circle);
            }
            lowest
        }
    }
    let numbers = vec![None; files];
    let mut search = Search { imports, numbers, open: Vec::new(), count: 0, found: Vec::new() };
    for file in 0..files {
        if search.numbers[file].is_none() {
            search.visit(file);
        }
    }
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns the circles of at least two files in a crate of these files.
    fn circles_of(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("fowler-{}-{name}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let found = large_circles(&folder, 1);
        fs::remove_dir_all(&folder).expect("it was made");
        found
    }

    #[test]
    fn a_circle_is_printed_with_its_imports() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{self, B}; pub struct A; fn f() { b::g() }"),
            ("b.rs", "use crate::c; pub struct B; pub fn g() { c::h() }"),
            ("c.rs", "pub fn h() -> super::a::A { todo!() }"),
        ];
        let text = "a circle of 3 files: a.rs, b.rs, c.rs\n  a.rs imports b.rs: b::g, crate::b::B\
                    \n  b.rs imports c.rs: c::h\n  c.rs imports a.rs: super::a::A";
        assert_eq!(circles_of("imports", &files), [text]);
    }

    #[test]
    fn a_door_is_no_import() {
        let door = "mod one; mod two; pub use one::One; pub(crate) use two::*;";
        let one = "pub struct One(super::Two);";
        let two = "pub struct Two; fn f() { let _ = stringify!(crate::room::One); }";
        let quiet = two.replace("crate::room::One", "");
        let files = [
            ("lib.rs", "mod room;"),
            ("room/mod.rs", door),
            ("room/one.rs", one),
            ("room/two.rs", two),
        ];
        let [circle] = &circles_of("door", &files)[..] else { panic!("one circle") };
        assert!(circle.starts_with("a circle of 2 files: room/one.rs, room/two.rs\n"), "{circle}");
        let files = [files[0], files[1], files[2], ("room/two.rs", &*quiet)];
        assert!(circles_of("open", &files).is_empty());
        // Items that `mod.rs` itself uses are its imports.
        let needs = format!("{door} pub struct Room(One);");
        let needed = "pub struct One(super::Room);";
        let files = [files[0], ("room/mod.rs", &*needs), ("room/one.rs", needed), files[3]];
        assert_eq!(circles_of("needs", &files).len(), 1);
    }

    #[test]
    fn tests_do_not_count() {
        let a = "#[cfg(test)] mod checks; pub struct A; #[cfg(test)] use crate::b::B;";
        let files = [
            ("lib.rs", "mod a; mod b; mod tests;"),
            ("a.rs", a),
            ("a/checks.rs", "use crate::a::A; use crate::b::B;"),
            ("b.rs", "use crate::a::A; pub struct B(A);"),
            ("tests.rs", "use crate::{a::A, b::B}; pub struct Test;"),
        ];
        assert!(circles_of("tests", &files).is_empty());
    }
}

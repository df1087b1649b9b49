//! Modules of the library import only those above them on its architecture page.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::rust_files;

const PAGE: &str = include_str!("../../machine/src/docs/architecture.md");

/// The first columns of the table below this heading.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let section = PAGE.split(&format!("\n# {heading}\n")).nth(1).unwrap();
    let section = section.split("\n# ").next().unwrap();
    let cell = |text: &str| text.trim().trim_matches('`').to_owned();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.split('|').skip(1).map(cell).collect()).collect()
}

/// The modules above and below those of the table, in order.
const ABOVE: [&str; 9] =
    ["own", "future", "language", "clock", "legible", "id", "line", "shell", "process"];
const BELOW: [&str; 6] = ["tools", "debug", "text", "openapi", "private", "prelude"];

/// The source files of a module, without those of tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return vec![folder.with_extension("rs")];
    }
    let mut found = Vec::new();
    rust_files(folder, &mut found);
    let of_tests = ["conformance", "model", "simulation", "tests", "tests.rs"];
    found.retain(|path| {
        let mut names = path.strip_prefix(folder).unwrap().iter();
        !names.any(|name| of_tests.contains(&name.to_str().unwrap()))
    });
    found
}

/// The modules of the crate that a file names, outside of its comments and tests.
fn named(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\n#[allow").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(tree) = rest.strip_prefix('{') {
            let (mut depth, mut start) = (0, true);
            for (at, letter) in tree.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    letter if start && letter.is_alphabetic() => {
                        found.insert(word(&tree[at..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.insert(word(rest));
        }
    }
    found
}

fn word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

#[test]
fn imports_run_down() {
    let mut order: Vec<String> =
        rows("Map").into_iter().map(|mut row| row.swap_remove(0)).collect();
    assert_eq!(order[0], "actor");
    order.splice(1..1, ABOVE.map(str::to_owned));
    order.extend(BELOW.map(str::to_owned));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/src");
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let declared = lib.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    for module in declared {
        assert!(order.iter().any(|it| it == module.trim_start_matches('_')), "{module}");
    }
    // The files that import a module below theirs, each with that module.
    let mut upward = BTreeSet::new();
    for (place, module) in order.iter().enumerate() {
        let found = files(&source.join(module));
        assert!(!found.is_empty(), "{module}");
        for file in found {
            for other in named(&fs::read_to_string(&file).unwrap()) {
                let is_sibling = (&**module, &*other) == ("contract", "store");
                let later = &order[place + 1..];
                if is_sibling || later.iter().any(|it| it == other.trim_start_matches('_')) {
                    upward.insert((file.clone(), other));
                }
            }
        }
    }
    assert_eq!(upward, BTreeSet::new());
}

/// The code of all source files of the library, without tests.
fn code() -> Vec<String> {
    let found = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/src"));
    let without_tests = |source: String| match source.split_once("#[cfg(test)]\n#[allow") {
        Some((code, _)) => code.to_owned(),
        None => source,
    };
    found.iter().map(|file| without_tests(fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn a_store_has_at_most_120_methods_that_other_modules_can_call() {
    let code = code();
    let blocks = code.iter().flat_map(|code| code.split("\nimpl Store {\n").skip(1));
    let methods =
        blocks.flat_map(|block| block.split("\n}").next().unwrap().lines()).filter(|it| {
            let is_open = it.starts_with("    pub ") || it.starts_with("    pub(crate) ");
            is_open && it.contains(" fn ")
        });
    let methods = methods.count();
    assert!((100..=120).contains(&methods), "{methods}");
}

#[test]
fn unreachable_is_said_at_most_6_times() {
    let said: usize = code().iter().map(|code| code.matches("unreachable!(").count()).sum();
    assert!((1..=6).contains(&said), "{said}");
}

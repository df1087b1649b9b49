//! `CONTRIBUTING.md` has every environment variable of the tests, and every alias.

use std::{collections::BTreeSet, fs, path::Path};

use super::rust_files;

pub(super) const PAGE: &str = include_str!("../../CONTRIBUTING.md");

/// Variables that only programs read.
const OF_PROGRAMS: [&str; 6] =
    ["CODING_AGENT_MODEL", "CODING_AGENT_URL", "COMPUTERNAME", "OPENAI_API_KEY", "PATH", "WORKER"];

fn is_variable(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

/// The environment variables that a source file reads by their names, or by constants.
fn read_by(source: &str) -> BTreeSet<&str> {
    let readers = ["env::var(", "env::var_os(", "setting(", "number(", "number_of("];
    let places = readers.into_iter().flat_map(|reader| source.split(reader).skip(1));
    let names = places.filter_map(|place| {
        let Some(literal) = place.strip_prefix('"') else {
            let declared = format!("const {}: &str = \"", place.split(')').next()?);
            let (_, value) = source.split_once(&declared)?;
            return value.split('"').next();
        };
        literal.split('"').next()
    });
    names.filter(|name| is_variable(name)).collect()
}

#[test]
fn readers_are_found() {
    let source = "const LONG: &str = \"IS_LONG\";\nlet long = std::env::var_os(LONG).is_some();\n\
                  let rounds = setting(\"ROUNDS\").unwrap_or(12);\nlet other = env::var(name);";
    assert_eq!(read_by(source), BTreeSet::from(["IS_LONG", "ROUNDS"]));
}

#[test]
fn the_environment_variables_are_those_that_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["examples", "machine", "machine-derive", "tests", "ui-tests"] {
        rust_files(&root.join(folder), &mut files);
    }
    let sources: Vec<String> =
        files.into_iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let read = sources.iter().flat_map(|source| read_by(source));
    let read: BTreeSet<&str> = read.filter(|name| !OF_PROGRAMS.contains(name)).collect();
    assert!(read.len() > 20, "only {read:?}");
    let section = PAGE.split("\n## Environment variables\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let described = section.split('`').skip(1).step_by(2);
    let described: BTreeSet<&str> = described.filter(|name| is_variable(name)).collect();
    let missing: Vec<_> = read.difference(&described).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md does not describe {missing:?}");
    // Some are read through a helper, by a script, or by another crate.
    let scripts = [include_str!("../../.ci/openapi"), include_str!("../../.ci/run")];
    for name in described {
        let mut texts = sources.iter().map(String::as_str).chain(scripts);
        assert!(texts.any(|text| text.contains(name)), "nothing reads {name}");
    }
}

/// Other settings would apply to every build.
#[test]
fn cargo_has_aliases_and_no_other_settings() {
    let lines = include_str!("../../.cargo/config.toml").lines();
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(lines.next(), Some("[alias]"));
    for line in lines {
        let (name, _) = line.split_once(" = ").unwrap();
        assert!(PAGE.contains(&format!("`cargo {name}")), "CONTRIBUTING.md lacks `cargo {name}`");
    }
}

//! Dependencies are as `deny.toml` allows. `cargo deny`, where it is installed, checks those of
//! other platforms, too.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    process::Command,
};

use serde_json::Value;

const DENY: &str = include_str!("../../deny.toml");
const LOCK: &str = include_str!("../../Cargo.lock");

/// The strings of a list in `deny.toml`.
fn list(name: &str) -> BTreeSet<&'static str> {
    let list = DENY.split(&format!("\n{name} = [")).nth(1).unwrap();
    list.split(']').next().unwrap().split('"').skip(1).step_by(2).collect()
}

/// The values of a key in `Cargo.lock`, in its order.
fn locked(key: &str) -> impl Iterator<Item = &'static str> {
    let start = format!("{key} = ");
    LOCK.lines().filter_map(move |line| Some(line.strip_prefix(&start)?.trim_matches('"')))
}

#[test]
fn packages_come_from_an_allowed_registry() {
    let allowed = list("allow-registry");
    for source in locked("source") {
        let registry = source.strip_prefix("registry+");
        assert!(registry.is_some_and(|it| allowed.contains(it)), "{source} is not allowed");
    }
}

#[test]
fn packages_that_are_there_twice_are_known() {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // The first version is that of the file.
    for (name, version) in locked("name").zip(locked("version").skip(1)) {
        versions.entry(name).or_default().push(version);
    }
    let older = versions.iter().flat_map(|(name, versions)| {
        versions.iter().rev().skip(1).map(move |version| format!("{name}@{version}"))
    });
    let known: BTreeSet<String> = list("skip").into_iter().map(str::to_owned).collect();
    assert_eq!(
        older.collect::<BTreeSet<_>>(),
        known,
        "`skip` in deny.toml lists all but the newest"
    );
}

/// True if these licences are enough. Unlike in SPDX, AND binds weaker than OR here, which may
/// refuse too much and never too little.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    expression.split(" AND ").all(|choice| {
        let mut choice = choice.split('/').flat_map(|part| part.split(" OR "));
        choice.any(|licence| allowed.contains(licence.trim_matches(['(', ')', ' '])))
    })
}

#[test]
fn expressions_are_read() {
    let allowed = BTreeSet::from(["MIT", "ISC"]);
    for allows in
        ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "(GPL-3.0 OR MIT) AND ISC", "MIT AND ISC"]
    {
        assert!(is_allowed(allows, &allowed), "{allows}");
    }
    for refuses in ["", "GPL-3.0", "MIT AND GPL-3.0", "ISC WITH an-exception", "MITx"] {
        assert!(!is_allowed(refuses, &allowed), "{refuses}");
    }
}

/// Those of this platform, with all features. Where some were never downloaded, the test is
/// skipped; in `.ci/run` clippy has needed all of them before.
#[test]
fn licences_are_allowed() {
    let cargo = |arguments: &[&str]| Command::new(env!("CARGO")).args(arguments).output().unwrap();
    let about = String::from_utf8(cargo(&["-vV"]).stdout).unwrap();
    let platform = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let read = cargo(&[
        "metadata",
        "--format-version=1",
        "--locked",
        "--offline",
        "--all-features",
        "--filter-platform",
        platform,
    ]);
    if !read.status.success() {
        let error = String::from_utf8(read.stderr).unwrap();
        assert!(error.contains("--offline"), "{error}");
        // Nothing can be done where there is no standard error.
        let _ = writeln!(std::io::stderr(), "skipped: needs `cargo fetch`");
        return;
    }
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    let packages = read["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let allowed = list("allow");
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        let (name, version) = (&package["name"], &package["version"]);
        assert!(is_allowed(licence, &allowed), "{name} {version} has the licence `{licence}`");
    }
}

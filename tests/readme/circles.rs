//! The order of the source files: imports form no circle, so each file can be read without those
//! that use it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use syn::{File, Item, UseTree, Visibility};

use super::rust_files;

/// The path of a module: `["emit", "body"]`.
type Module = Vec<String>;

/// The folders, each with the source of its package and the least number of its files.
const FOLDERS: [(&str, &[&str], usize); 4] = [
    ("machine-derive/src", &[], 50),
    ("machine/src", &["contract"], 30),
    ("machine/src", &["view"], 15),
    ("machine/console/src", &[], 50),
];

#[test]
fn imports_form_no_circle() -> io::Result<()> {
    for (source, folder, count) in FOLDERS {
        let mut files = BTreeMap::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
        let mut paths = Vec::new();
        rust_files(&root, &mut paths);
        for path in paths {
            let file = syn::parse_file(&fs::read_to_string(&path)?).map_err(io::Error::other)?;
            let module = path.strip_prefix(&root).map_err(io::Error::other)?.with_extension("");
            let names = module.iter().map(|name| name.to_string_lossy().into_owned());
            files.insert(names.filter(|name| name != "mod" && name != "lib").collect(), file);
        }
        no_circle(&files, folder, count);
    }
    Ok(())
}

fn no_circle(files: &BTreeMap<Module, File>, folder: &[&str], count: usize) {
    let is_inside = |module: &Module| {
        module.len() >= folder.len() && module.iter().zip(folder).all(|(one, other)| one == other)
    };
    let mut arrows: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, file) in files.iter().filter(|(module, _)| is_inside(module)) {
        let to = imports(file, false).into_iter().map(|path| resolve(files, module, &path));
        arrows.insert(module, to.filter(|to| to != module).collect());
    }
    assert!(arrows.len() > count, "{folder:?} has only {} files", arrows.len());
    // Without circles, files that import nothing that is left can be removed until none is left.
    while let Some(leaf) =
        arrows.iter().find(|(_, to)| to.iter().all(|to| !arrows.contains_key(to)))
    {
        let leaf = *leaf.0;
        arrows.remove(leaf);
    }
    assert!(arrows.is_empty(), "circles among these files of {folder:?}: {arrows:#?}");
}

/// The paths that a file imports, or those that it re-exports.
fn imports(file: &File, exported: bool) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for item in &file.items {
        if let Item::Use(item) = item
            && exported != matches!(item.vis, Visibility::Inherited)
        {
            flatten(&item.tree, &mut Vec::new(), &mut paths);
        }
    }
    paths
}

fn flatten(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let length = before.len();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
        }
        UseTree::Name(name) => paths.push([&before[..], &[name.ident.to_string()]].concat()),
        UseTree::Rename(name) => paths.push([&before[..], &[name.ident.to_string()]].concat()),
        UseTree::Glob(_) => paths.push(before.clone()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, paths)),
    }
    before.truncate(length);
}

/// The file in which an imported item is declared; re-exports are followed.
fn resolve(files: &BTreeMap<Module, File>, from: &Module, path: &[String]) -> Module {
    let mut module = from.clone();
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" => module.clear(),
            "super" => drop(module.pop()),
            "self" => {}
            name => {
                let inner = [&module[..], &[name.to_owned()]].concat();
                if !files.contains_key(&inner) {
                    let Some(file) = files.get(&module) else { break };
                    let exports = imports(file, true).into_iter();
                    let mut exports =
                        exports.filter(|path| path.last().is_some_and(|it| it == name));
                    // Another crate, or an item of this file.
                    let Some(export) = exports.next().filter(|_| path[0] != *name) else { break };
                    return resolve(files, &module, &export);
                }
                module = inner;
            }
        }
        rest = after;
    }
    if rest.len() == path.len() { from.clone() } else { module }
}

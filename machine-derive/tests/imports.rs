//! The order of the source files: imports form no circle, so each file can be read without those that use it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use syn::{File, Item, UseTree, Visibility};

/// The path of a module: `["emit", "body"]`.
type Module = Vec<String>;

#[test]
fn imports_form_no_circle() -> io::Result<()> {
    let mut files = BTreeMap::new();
    read(Path::new("src"), &Vec::new(), &mut files)?;
    assert!(files.len() > 50, "{} files", files.len());
    let mut arrows: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, file) in &files {
        let to = imports(file, false).into_iter().map(|path| resolve(&files, module, &path));
        arrows.insert(module, to.filter(|to| to != module).collect());
    }
    // Without circles, files that import nothing that is left can be removed until none is left.
    while let Some(leaf) =
        arrows.iter().find(|(_, to)| to.iter().all(|to| !arrows.contains_key(to)))
    {
        let leaf = *leaf.0;
        arrows.remove(leaf);
    }
    assert!(arrows.is_empty(), "circles among these files: {arrows:#?}");
    Ok(())
}

fn read(folder: &Path, module: &Module, files: &mut BTreeMap<Module, File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut inner = module.clone();
        if path.is_dir() {
            inner.push(name);
            read(&path, &inner, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            inner.extend((name != "mod" && name != "lib").then_some(name));
            let file = syn::parse_file(&fs::read_to_string(&path)?);
            files.insert(inner, file.map_err(io::Error::other)?);
        }
    }
    Ok(())
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
                    let exports = imports(&files[&module], true).into_iter();
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

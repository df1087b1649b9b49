//! The names that the code of a file uses.

use std::{collections::BTreeMap, rc::Rc};

use syn::{
    Expr, File, ImplItemConst, ImplItemFn, ItemConst, ItemFn, ItemStatic, UseRename,
    visit::{self, Visit},
};

use super::meaning::{Known, Meaning};

/// The names of a file, with the constants of others.
pub(super) fn of(file: &File, constants: &BTreeMap<String, Meaning>) -> Known {
    let mut outer = constants.clone();
    outer.extend(constants_of(file));
    let mut renames = Renames(BTreeMap::new());
    renames.visit_file(file);
    let known = Known { outer: Rc::new(outer), renames: Rc::new(renames.0), ..Known::default() };
    let mut functions = Functions(known);
    functions.visit_file(file);
    functions.0
}

/// The constants of a file.
pub(super) fn constants_of(file: &File) -> BTreeMap<String, Meaning> {
    let mut constants = Constants(Vec::new());
    constants.visit_file(file);
    let mut known = Known::default();
    // A constant may use another one that is declared below.
    for _ in 0..3 {
        for (name, value) in &constants.0 {
            let meaning = known.meaning(value);
            Rc::make_mut(&mut known.outer).insert(name.clone(), meaning);
        }
    }
    Rc::unwrap_or_clone(known.outer)
}

struct Constants(Vec<(String, Expr)>);

impl<'ast> Visit<'ast> for Constants {
    fn visit_item_const(&mut self, node: &'ast ItemConst) {
        self.0.push((node.ident.to_string(), (*node.expr).clone()));
    }

    fn visit_item_static(&mut self, node: &'ast ItemStatic) {
        self.0.push((node.ident.to_string(), (*node.expr).clone()));
    }

    fn visit_impl_item_const(&mut self, node: &'ast ImplItemConst) {
        self.0.push((node.ident.to_string(), node.expr.clone()));
    }
}

/// Notes what is imported under another name.
struct Renames(BTreeMap<String, String>);

impl<'ast> Visit<'ast> for Renames {
    fn visit_use_rename(&mut self, node: &'ast UseRename) {
        self.0.insert(node.rename.to_string(), node.ident.to_string());
    }
}

/// Notes the functions of a file that return a measured time.
struct Functions(Known);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.0.note(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        self.0.note(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }
}

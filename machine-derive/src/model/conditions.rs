use quote::ToTokens;
use syn::Expr;

use super::Move;
use crate::{parse::Arm, text::of_expression};

impl Move<'_> {
    /// For each target of a choice, when it is chosen; nothing for any other move.
    pub(crate) fn conditions(&self) -> Vec<String> {
        if !self.is_choice() {
            return Vec::new();
        }
        let of = |to: &usize| {
            let mine = self.leads.iter().filter(|target| target.to == *to);
            match mine.map(|target| target.when.as_str()).collect::<Vec<_>>().as_slice() {
                [only] => (*only).to_owned(),
                several => several.join(" or ").replace("or else", "or otherwise"),
            }
        };
        self.targets.iter().map(of).collect()
    }
}

pub(super) const ELSE: &str = "else";

/// All conditions on the way to a target.
pub(super) fn join(path: &[String]) -> String {
    // A chain of `else if` ends in `else`; the conditions before it go without saying.
    let said: Vec<&str> =
        path.iter().map(String::as_str).skip_while(|part| *part == ELSE).collect();
    if said.is_empty() { ELSE.to_owned() } else { said.join(" and ") }
}

pub(super) fn of_if(condition: &Expr) -> String {
    match condition {
        Expr::Let(bound) => {
            let value = of_expression(bound.expr.to_token_stream());
            format!("{value} is {}", of_expression(bound.pat.to_token_stream()))
        }
        condition => of_expression(condition.to_token_stream()),
    }
}

pub(super) fn of_arm(on: &Expr, arm: &Arm) -> String {
    let pattern = of_expression(arm.pattern.to_token_stream());
    let guard = arm.guard.as_ref().map(|guard| of_expression(guard.to_token_stream()));
    match (pattern.as_str(), guard) {
        ("_", None) => ELSE.to_owned(),
        ("_", Some(guard)) => guard,
        (pattern, guard) => {
            let on = of_expression(on.to_token_stream());
            let and = guard.map_or_else(String::new, |guard| format!(" and {guard}"));
            format!("{on} is {pattern}{and}")
        }
    }
}

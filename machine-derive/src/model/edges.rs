//! The edges of a move in the table: one for each state that it can lead to.

use quote::ToTokens;
use syn::Expr;

use super::{Move, Target};
use crate::{parse::Arm, text::of_expression};

pub(crate) struct Edge {
    pub(crate) to: usize,
    pub(crate) when: Option<String>,
    /// How it stays in its state; `None` if it enters.
    pub(crate) stays: Option<Stays>,
}

/// How an edge stays in its state: `Stays` of the library, without `Never`.
#[derive(Clone, Copy)]
pub(crate) enum Stays {
    Always,
    ByBranch,
}

impl Move<'_> {
    pub(crate) fn edges(&self) -> impl Iterator<Item = Edge> {
        self.targets.iter().map(move |to| {
            let ways = self.leads.iter().filter(|target| target.to == *to);
            let ways: Vec<&Target<'_>> = ways.collect();
            let stays = match ways.iter().filter(|way| way.stays).count() {
                0 => None,
                count if count == ways.len() => Some(Stays::Always),
                _ => Some(Stays::ByBranch),
            };
            Edge { to: *to, when: self.is_choice().then(|| any_of(&ways)), stays }
        })
    }
}

impl Stays {
    /// The words in documentation and drawings, which are those of the library.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Always => "stays",
            Self::ByBranch => "may stay",
        }
    }
}

fn any_of(ways: &[&Target<'_>]) -> String {
    match ways.iter().map(|way| way.when.as_str()).collect::<Vec<_>>().as_slice() {
        [only] => (*only).to_owned(),
        several => several.join(" or ").replace("or else", "or otherwise"),
    }
}

pub(super) const ELSE: &str = "else";

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

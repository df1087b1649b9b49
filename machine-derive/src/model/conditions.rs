use std::slice::Iter;

use quote::ToTokens;
use syn::Expr;

use super::{Move, Target};
use crate::{parse::Branch, text};

impl Move<'_> {
    /// For each target of a choice, when it is chosen; nothing for any other move.
    pub(crate) fn conditions(&self) -> Vec<String> {
        if !self.is_choice() {
            return Vec::new();
        }
        let mut ways: Vec<(usize, String)> = Vec::new();
        walk(&self.written.leads, &mut self.leads.iter(), &[], &mut ways);
        let of = |to: &usize| {
            let mine = ways.iter().filter(|(target, _)| target == to);
            match mine.map(|(_, when)| when.as_str()).collect::<Vec<_>>().as_slice() {
                [only] => (*only).to_owned(),
                several => several.join(" or ").replace("or else", "or otherwise"),
            }
        };
        self.targets.iter().map(of).collect()
    }
}

/// Collects each target with the conditions on the way to it.
fn walk(
    branch: &Branch,
    targets: &mut Iter<'_, Target<'_>>,
    path: &[String],
    ways: &mut Vec<(usize, String)>,
) {
    let and = |condition: String| {
        let mut path = path.to_vec();
        path.push(condition);
        path
    };
    match branch {
        Branch::To(_) => {
            // A chain of `else if` ends in `else`; the conditions before it go without saying.
            let said: Vec<&str> =
                path.iter().map(String::as_str).skip_while(|part| *part == "else").collect();
            let when = if said.is_empty() { "else".to_owned() } else { said.join(" and ") };
            ways.extend(targets.next().map(|target| (target.to, when)));
        }
        Branch::If { condition, then, otherwise, .. } => {
            let text = match condition {
                Expr::Let(bound) => {
                    let value = text::of_expression(bound.expr.to_token_stream());
                    format!("{value} is {}", text::of_expression(bound.pat.to_token_stream()))
                }
                condition => text::of_expression(condition.to_token_stream()),
            };
            walk(then, targets, &and(text), ways);
            if let Some(otherwise) = otherwise {
                walk(otherwise, targets, &and("else".to_owned()), ways);
            }
        }
        Branch::Match { on, arms, .. } => {
            let on = text::of_expression(on.to_token_stream());
            for arm in arms {
                let pattern = text::of_expression(arm.pattern.to_token_stream());
                let guard =
                    arm.guard.as_ref().map(|guard| text::of_expression(guard.to_token_stream()));
                let condition = match (pattern.as_str(), guard) {
                    ("_", None) => "else".to_owned(),
                    ("_", Some(guard)) => guard,
                    (pattern, None) => format!("{on} is {pattern}"),
                    (pattern, Some(guard)) => format!("{on} is {pattern} and {guard}"),
                };
                walk(&arm.branch, targets, &and(condition), ways);
            }
        }
    }
}

//! Loops that look for something a limited number of times, and sleep in between.

use syn::{
    BinOp, Block, Expr, ExprAsync, ExprBinary, ExprBreak, ExprCall, ExprClosure, ExprForLoop,
    ExprLoop, ExprMethodCall, ExprReturn, ExprWhile, Item, Macro, Token,
    punctuated::Punctuated,
    visit::{self, Visit},
};

use super::meaning::{Known, Meaning};

/// The number of rounds of an iterator, if its text shows it.
pub(super) fn rounds(known: &Known, iterator: &Expr) -> Option<f64> {
    let number = |expr: &Expr| match known.meaning(expr) {
        Meaning::Number(number) => Some(number),
        _ => None,
    };
    match iterator {
        Expr::Paren(inner) => rounds(known, &inner.expr),
        Expr::Reference(inner) => rounds(known, &inner.expr),
        Expr::Range(range) => number(range.end.as_ref()?),
        Expr::Array(array) => Some(f64::from(u32::try_from(array.elems.len()).ok()?)),
        Expr::MethodCall(call) => match &*call.method.to_string() {
            "take" => number(call.args.first()?),
            "iter" | "into_iter" | "rev" | "map" | "enumerate" => rounds(known, &call.receiver),
            _ => None,
        },
        _ => None,
    }
}

/// The content of a loop, without that of loops and closures in it.
#[derive(Debug)]
pub(super) struct Content<'a> {
    known: &'a Known,
    sleeps: bool,
    /// The sum of the sleeps of a round whose time is known, in seconds.
    slept: f64,
    exits: bool,
    counted: Vec<String>,
    /// Names that are compared with numbers.
    compared: Vec<(String, f64)>,
}

impl<'a> Content<'a> {
    fn new(known: &'a Known) -> Self {
        let (counted, compared) = (Vec::new(), Vec::new());
        Self { known, sleeps: false, slept: 0.0, exits: false, counted, compared }
    }

    /// Returns true if this many rounds do not last for a minute.
    fn is_short(&self, rounds: f64) -> bool {
        self.sleeps && rounds * self.slept < super::MINUTE
    }

    /// A loop over something.
    pub(super) fn is_short_for(known: &'a Known, iterator: &Expr, body: &Block) -> bool {
        let mut content = Self::new(known);
        content.visit_block(body);
        content.exits && rounds(known, iterator).is_some_and(|rounds| content.is_short(rounds))
    }

    /// A method of an iterator, such as `any`.
    pub(super) fn is_short_call(known: &'a Known, call: &ExprMethodCall) -> bool {
        let method = call.method.to_string();
        let Some(Expr::Closure(look)) = call.args.first() else { return false };
        if !["all", "any", "find", "find_map", "position"].contains(&&*method) {
            return false;
        }
        let mut content = Self::new(known);
        content.visit_expr(&look.body);
        rounds(known, &call.receiver).is_some_and(|rounds| content.is_short(rounds))
    }

    /// A loop that counts its rounds.
    pub(super) fn is_short_loop(known: &'a Known, condition: Option<&Expr>, body: &Block) -> bool {
        let mut content = Self::new(known);
        content.visit_block(body);
        if let Some(condition) = condition {
            content.visit_expr(condition);
        }
        let mut limits = content.compared.iter().filter(|(name, _)| content.counted.contains(name));
        limits.any(|(_, rounds)| content.is_short(*rounds))
    }

    fn name(expr: &Expr) -> Option<String> {
        let Expr::Path(path) = expr else { return None };
        path.path.get_ident().map(ToString::to_string)
    }

    fn call(&mut self, name: &str, time: Option<&Expr>) {
        if name == "sleep" {
            self.sleeps = true;
            let time = time.and_then(|time| self.known.meaning(time).seconds(1.0));
            self.slept += time.unwrap_or(0.0);
        }
    }
}

impl<'ast> Visit<'ast> for Content<'_> {
    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        if let Some((_, name)) = self.known.path(&node.func) {
            self.call(&name, node.args.first());
        }
        visit::visit_expr_call(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        match node.op {
            BinOp::AddAssign(_) => self.counted.extend(Self::name(&node.left)),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) => {
                for (name, limit) in [(&node.left, &node.right), (&node.right, &node.left)] {
                    if let (Some(name), Meaning::Number(limit)) =
                        (Self::name(name), self.known.meaning(limit))
                    {
                        self.compared.push((name, limit));
                    }
                }
            }
            _ => {}
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_break(&mut self, _: &'ast ExprBreak) {
        self.exits = true;
    }

    fn visit_expr_return(&mut self, _: &'ast ExprReturn) {
        self.exits = true;
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        if let Ok(parsed) = node.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            parsed.iter().for_each(|expr| self.visit_expr(expr));
        }
    }

    fn visit_expr_for_loop(&mut self, _: &'ast ExprForLoop) {}

    fn visit_expr_while(&mut self, _: &'ast ExprWhile) {}

    fn visit_expr_loop(&mut self, _: &'ast ExprLoop) {}

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}

    fn visit_item(&mut self, _: &'ast Item) {}
}

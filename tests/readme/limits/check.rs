//! Finds the limits of a file that are shorter than a minute.

use std::{collections::BTreeMap, mem};

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::{
    Arm, BinOp, Block, Expr, ExprAssign, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprLet,
    ExprLoop, ExprMatch, ExprMethodCall, ExprWhile, File, ImplItemFn, ItemFn, Local, Macro,
    Signature, Token,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    MINUTE,
    meaning::{Known, Meaning},
    names,
    polling::Content,
};

/// Functions and methods that give up when a time is over.
const FUNCTIONS: [&str; 4] = ["timeout", "timeout_at", "park_timeout", "connect_timeout"];
const METHODS: [&str; 10] = [
    "connect_timeout",
    "recv_deadline",
    "recv_timeout",
    "send_timeout",
    "set_read_timeout",
    "set_write_timeout",
    "timeout_global",
    "wait_timeout",
    "wait_timeout_ms",
    "wait_timeout_while",
];

/// The lines with a short limit. `constants` are those of other files.
pub(super) fn short_limits(file: &File, constants: &BTreeMap<String, Meaning>) -> Vec<usize> {
    let mut checker = Checker { known: names::of(file, constants), short: Vec::new() };
    checker.visit_file(file);
    checker.short.sort_unstable();
    checker.short.dedup();
    checker.short
}

struct Checker {
    known: Known,
    /// The numbers of lines.
    short: Vec<usize>,
}

fn is_comparison(op: BinOp) -> bool {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Lt(_) | Le(_) | Gt(_) | Ge(_) | Eq(_) | Ne(_))
}

/// The expression without what waits for it or takes it apart.
fn inner(expr: &Expr) -> &Expr {
    match expr {
        Expr::Await(outer) => inner(&outer.base),
        Expr::Paren(outer) => inner(&outer.expr),
        Expr::Reference(outer) => inner(&outer.expr),
        _ => expr,
    }
}

impl Checker {
    fn refuse(&mut self, place: Span) {
        self.short.push(place.start().line);
    }

    /// Two values are compared, in any way.
    fn compare(&mut self, left: &Expr, right: &Expr, place: Span) {
        use Meaning::{Measured, Moment};
        let is_long = match (self.known.meaning(left), self.known.meaning(right)) {
            (Measured(unit), limit) | (limit, Measured(unit)) => {
                limit.seconds(unit).is_some_and(|seconds| seconds >= MINUTE)
            }
            (Moment(Some(one)), Moment(Some(other))) => (one - other).abs() >= MINUTE,
            (Moment(_), _) | (_, Moment(_)) => false,
            _ => true,
        };
        if !is_long {
            self.refuse(place);
        }
    }

    /// A call that gives up when a time is over.
    fn limit(&mut self, arguments: &Punctuated<Expr, Token![,]>, place: Span) {
        let is_long = arguments.iter().any(|argument| match self.known.meaning(argument) {
            Meaning::Duration(seconds) => seconds >= MINUTE,
            Meaning::Moment(added) => added.is_some_and(|added| added >= MINUTE),
            // The milliseconds of `wait_timeout_ms`.
            Meaning::Number(number) => number >= 1000.0 * MINUTE,
            _ => false,
        });
        if !is_long {
            self.refuse(place);
        }
    }

    fn is_limited(&self, call: &ExprCall) -> bool {
        self.known.path(&call.func).is_some_and(|(_, name)| FUNCTIONS.contains(&&*name))
    }

    /// What the test waits for does not come, so a slow computer changes nothing.
    fn wait_in_vain(&mut self, wait: &Expr) {
        match inner(wait) {
            Expr::Call(call) if self.is_limited(call) => {
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::MethodCall(call) if METHODS.iter().any(|name| call.method == name) => {
                self.visit_expr(&call.receiver);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            other => self.visit_expr(other),
        }
    }

    /// A condition that must hold: a lower bound of a time, or a wait in vain.
    fn assert(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(outer) => self.assert(&outer.expr),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                self.assert(&both.left);
                self.assert(&both.right);
            }
            Expr::Binary(bound) if self.is_lower(bound) => {
                self.visit_expr(&bound.left);
                self.visit_expr(&bound.right);
            }
            Expr::MethodCall(call) if call.method == "is_err" => self.wait_in_vain(&call.receiver),
            _ => self.visit_expr(condition),
        }
    }

    /// A time is longer than something that was not measured.
    fn is_lower(&self, bound: &ExprBinary) -> bool {
        let is_measured = |expr: &Expr| matches!(self.known.meaning(expr), Meaning::Measured(_));
        let (time, limit) = match bound.op {
            BinOp::Gt(_) | BinOp::Ge(_) => (&*bound.left, &*bound.right),
            BinOp::Lt(_) | BinOp::Le(_) => (&*bound.right, &*bound.left),
            _ => return false,
        };
        is_measured(time) && !is_measured(limit)
    }

    /// The names that this binds end with it.
    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        let locals = self.known.locals.clone();
        visit(self);
        self.known.locals = locals;
    }

    /// A function does not see the names of the one that it is in.
    fn function(&mut self, signature: &Signature, visit: impl FnOnce(&mut Self)) {
        let locals = mem::take(&mut self.known.locals);
        self.known.bind_inputs(signature);
        visit(self);
        self.known.locals = locals;
    }

    /// The content of a macro: statements, or else pieces that may be expressions, or contain some.
    fn tokens(&mut self, tokens: TokenStream) {
        if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
            self.scoped(|checker| statements.iter().for_each(|it| checker.visit_stmt(it)));
            return;
        }
        for piece in pieces(tokens) {
            match syn::parse2::<Expr>(piece.iter().cloned().collect()) {
                Ok(expr) => {
                    self.race(&expr);
                    self.visit_expr(&expr);
                }
                Err(_) => {
                    for token in piece {
                        if let TokenTree::Group(group) = token {
                            self.tokens(group.stream());
                        }
                    }
                }
            }
        }
    }

    /// A branch of `select!` that ends after a time.
    fn race(&mut self, branch: &Expr) {
        if let Expr::Assign(branch) = branch
            && let Expr::Call(call) = inner(&branch.right)
            && self.known.path(&call.func).is_some_and(|(_, name)| name.starts_with("sleep"))
        {
            self.limit(&call.args, call.span());
        }
    }
}

/// The tokens between commas, semicolons and arrows.
fn pieces(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut pieces = vec![Vec::new()];
    for token in tokens {
        let last = pieces.last_mut().expect("it begins with one");
        let TokenTree::Punct(punct) = &token else {
            // No comma follows the block of an arm.
            let is_block =
                matches!(&token, TokenTree::Group(it) if it.delimiter() == Delimiter::Brace);
            let ends = is_block && last.is_empty();
            last.push(token);
            if ends {
                pieces.push(Vec::new());
            }
            continue;
        };
        let is_arrow = punct.as_char() == '>'
            && matches!(
                last.last(),
                Some(TokenTree::Punct(it)) if it.as_char() == '=' && it.spacing() == Spacing::Joint
            );
        if is_arrow {
            last.pop();
        }
        if is_arrow || matches!(punct.as_char(), ',' | ';') {
            pieces.push(Vec::new());
        } else {
            last.push(token);
        }
    }
    pieces
}

/// The first expression of the content of a macro.
fn first(input: ParseStream<'_>) -> syn::Result<Expr> {
    let first = Expr::parse(input)?;
    TokenStream::parse(input)?;
    Ok(first)
}

impl<'ast> Visit<'ast> for Checker {
    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        if is_comparison(node.op) {
            self.compare(&node.left, &node.right, node.left.span());
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        if self.is_limited(node) {
            self.limit(&node.args, node.span());
        }
        visit::visit_expr_call(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        let (method, place) = (node.method.to_string(), node.method.span());
        if ["unwrap_err", "expect_err"].contains(&&*method) {
            return self.wait_in_vain(&node.receiver);
        }
        if METHODS.contains(&&*method) {
            self.limit(&node.args, place);
        }
        let is_comparison =
            ["lt", "le", "gt", "ge", "eq", "ne", "cmp", "partial_cmp"].contains(&&*method);
        match (&*node.receiver, node.args.first()) {
            (left, Some(right)) if is_comparison => self.compare(left, right, place),
            // What is left of a limit.
            (left, Some(right)) if ["checked_sub", "saturating_sub"].contains(&&*method) => {
                if matches!(self.known.meaning(right), Meaning::Measured(_)) {
                    self.compare(left, right, place);
                }
            }
            (Expr::Paren(range), Some(time)) if method == "contains" => {
                if let Expr::Range(range) = &*range.expr
                    && let Some(end) = &range.end
                {
                    self.compare(time, end, place);
                }
            }
            _ => {}
        }
        if Content::is_short_call(&self.known, node) {
            self.refuse(place);
        }
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_match(&mut self, node: &'ast ExprMatch) {
        if matches!(self.known.meaning(&node.expr), Meaning::Measured(_)) {
            self.refuse(node.expr.span());
        }
        visit::visit_expr_match(self, node);
    }

    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        if Content::is_short_for(&self.known, &node.expr, &node.body) {
            self.refuse(node.for_token.span);
        }
        self.scoped(|checker| {
            checker.visit_expr(&node.expr);
            checker.known.bind_as(&node.pat, Meaning::Unknown);
            checker.visit_block(&node.body);
        });
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        if Content::is_short_loop(&self.known, None, &node.body) {
            self.refuse(node.loop_token.span);
        }
        visit::visit_expr_loop(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        if Content::is_short_loop(&self.known, Some(&node.cond), &node.body) {
            self.refuse(node.while_token.span);
        }
        match &*node.cond {
            // Until nothing comes for a while.
            Expr::MethodCall(call) if call.method == "is_ok" => self.wait_in_vain(&call.receiver),
            condition => self.visit_expr(condition),
        }
        self.visit_block(&node.body);
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        let name = node.path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        if name == "matches"
            && let Ok(first) = node.parse_body_with(first)
            && matches!(self.known.meaning(&first), Meaning::Measured(_))
        {
            self.refuse(first.span());
        }
        let parsed = node.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let Ok(parsed) = parsed else { return self.tokens(node.tokens.clone()) };
        let mut rest = parsed.iter();
        if ["assert", "debug_assert", "ensure", "prop_assert"].contains(&&*name)
            && let Some(condition) = rest.next()
        {
            self.assert(condition);
        }
        if name.contains("assert_eq") || name.contains("assert_ne") {
            let mut compared = parsed.iter();
            if let (Some(left), Some(right)) = (compared.next(), compared.next()) {
                self.compare(left, right, left.span());
            }
        }
        rest.for_each(|expr| self.visit_expr(expr));
    }

    fn visit_local(&mut self, node: &'ast Local) {
        visit::visit_local(self, node);
        self.known.bind(&node.pat, node.init.as_ref().map(|init| &*init.expr));
    }

    fn visit_expr_let(&mut self, node: &'ast ExprLet) {
        visit::visit_expr_let(self, node);
        self.known.bind(&node.pat, Some(&node.expr));
    }

    fn visit_expr_assign(&mut self, node: &'ast ExprAssign) {
        visit::visit_expr_assign(self, node);
        if let Expr::Path(path) = &*node.left
            && let Some(name) = path.path.get_ident()
        {
            let meaning = self.known.meaning(&node.right);
            self.known.locals.insert(name.to_string(), meaning);
        }
    }

    fn visit_block(&mut self, node: &'ast Block) {
        self.scoped(|checker| visit::visit_block(checker, node));
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        self.scoped(|checker| {
            checker.known.bind_as(&node.pat, Meaning::Unknown);
            visit::visit_arm(checker, node);
        });
    }

    fn visit_expr_closure(&mut self, node: &'ast ExprClosure) {
        self.scoped(|checker| {
            for input in &node.inputs {
                checker.known.bind_as(input, Meaning::Unknown);
            }
            visit::visit_expr_closure(checker, node);
        });
    }

    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.function(&node.sig, |checker| visit::visit_item_fn(checker, node));
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        self.function(&node.sig, |checker| visit::visit_impl_item_fn(checker, node));
    }
}

//! The meaning of an expression for limits of time, as far as its text shows it.

use std::{collections::BTreeMap, rc::Rc};

use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCall, ExprMethodCall, FnArg, Lit, Pat, ReturnType,
    Signature, Stmt, Type, UnOp, punctuated::Punctuated, token::Comma,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    /// A time that the test has measured, in units of this number of seconds.
    Measured(f64),
    /// A moment, and the seconds that were added to the one that was taken; `None` if they are
    /// unknown.
    Moment(Option<f64>),
    /// A duration, in seconds.
    Duration(f64),
    Number(f64),
    Unknown,
}

use Meaning::{Duration, Measured, Moment, Number, Unknown};

impl Meaning {
    /// The seconds of a limit that is compared with a time in this unit.
    pub(super) fn seconds(self, unit: f64) -> Option<f64> {
        match self {
            Duration(seconds) => Some(seconds),
            Number(number) => Some(number * unit),
            _ => None,
        }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Measured(unit), _) | (_, Measured(unit)) => Measured(unit),
            (Moment(added), Duration(more)) => Moment(added.map(|added| added + more)),
            (Moment(_), _) => Moment(None),
            (Duration(one), Duration(other)) => Duration(one + other),
            (Number(one), Number(other)) => Number(one + other),
            _ => Unknown,
        }
    }

    fn minus(self, other: Self) -> Self {
        match (self, other) {
            // The rest of a limit means the limit.
            (limit @ (Duration(_) | Number(_)), Measured(_)) => limit,
            (Measured(unit), _) => Measured(unit),
            // A deadline and the time until it. Of two moments that were taken, the difference is
            // measured.
            (Moment(Some(added)), Moment(Some(_))) if added > 0.0 => Duration(added),
            (Moment(_), Moment(_)) => Measured(1.0),
            (Moment(added), Duration(less)) => Moment(added.map(|added| added - less)),
            (Moment(_), _) => Moment(None),
            (Duration(one), Duration(other)) => Duration(one - other),
            (Number(one), Number(other)) => Number(one - other),
            _ => Unknown,
        }
    }

    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Measured(unit), _) | (_, Measured(unit)) => Measured(unit),
            (Duration(one), Number(other)) | (Number(one), Duration(other)) => {
                Duration(one * other)
            }
            (Number(one), Number(other)) => Number(one * other),
            _ => Unknown,
        }
    }

    fn divided(self, other: Self) -> Self {
        match (self, other) {
            (Measured(unit), Number(_)) => Measured(unit),
            (Duration(one), Number(other)) => Duration(one / other),
            (Number(one), Number(other)) => Number(one / other),
            // A share of a time has no unit.
            _ => Unknown,
        }
    }
}

/// The names that an expression may use. A function whose value was measured is there with `()`
/// after its name.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The constants and functions of the file, and the constants of others.
    pub(super) outer: Rc<BTreeMap<String, Meaning>>,
    pub(super) locals: BTreeMap<String, Meaning>,
    /// `use a as b`: from `b` to `a`.
    pub(super) renames: Rc<BTreeMap<String, String>>,
}

/// The unit of these methods and constructors, in seconds.
fn unit(name: &str) -> Option<f64> {
    let unit = name.strip_prefix("as_").or_else(|| name.strip_prefix("from_"))?;
    Some(match unit {
        "nanos" => 1e-9,
        "micros" => 1e-6,
        "millis" | "millis_f32" | "millis_f64" => 1e-3,
        "secs" | "secs_f32" | "secs_f64" => 1.0,
        "mins" => 60.0,
        "hours" => 3600.0,
        "days" => 86_400.0,
        "weeks" => 604_800.0,
        _ => return None,
    })
}

impl Known {
    fn name(&self, name: &str) -> Meaning {
        let found = self.locals.get(name).or_else(|| self.outer.get(name));
        found.copied().unwrap_or(Unknown)
    }

    /// The last two names of a path, without renames.
    pub(super) fn path(&self, expr: &Expr) -> Option<(String, String)> {
        let Expr::Path(path) = expr else { return None };
        let mut names = path.path.segments.iter().rev().map(|segment| {
            let name = segment.ident.to_string();
            self.renames.get(&name).cloned().unwrap_or(name)
        });
        let last = names.next()?;
        Some((names.next().unwrap_or_default(), last))
    }

    pub(super) fn meaning(&self, expr: &Expr) -> Meaning {
        match expr {
            Expr::Lit(lit) => {
                let digits = match &lit.lit {
                    Lit::Int(number) => number.base10_digits(),
                    Lit::Float(number) => number.base10_digits(),
                    _ => return Unknown,
                };
                digits.parse::<f64>().map_or(Unknown, Number)
            }
            Expr::Path(_) => match self.path(expr) {
                Some((owner, name)) if owner == "Duration" && name == "MAX" => {
                    Duration(f64::INFINITY)
                }
                Some((owner, name)) if owner == "Duration" && name == "ZERO" => Duration(0.0),
                Some((_, name)) => self.name(&name),
                None => Unknown,
            },
            Expr::Paren(inner) => self.meaning(&inner.expr),
            Expr::Group(inner) => self.meaning(&inner.expr),
            Expr::Reference(inner) => self.meaning(&inner.expr),
            Expr::Await(inner) => self.meaning(&inner.base),
            Expr::Try(inner) => self.meaning(&inner.expr),
            Expr::Cast(inner) => self.meaning(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => self.meaning(&inner.expr),
            Expr::Block(inner) => self.block(&inner.block),
            Expr::Async(inner) => self.block(&inner.block),
            Expr::Closure(closure) => self.meaning(&closure.body),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            _ => Unknown,
        }
    }

    /// The meaning of the value of a block.
    pub(super) fn block(&self, block: &Block) -> Meaning {
        let mut inside = self.clone();
        for statement in &block.stmts {
            if let Stmt::Local(local) = statement {
                inside.bind(&local.pat, local.init.as_ref().map(|init| &*init.expr));
            }
        }
        match block.stmts.last() {
            Some(Stmt::Expr(last, None)) => inside.meaning(last),
            _ => Unknown,
        }
    }

    fn binary(&self, binary: &ExprBinary) -> Meaning {
        let (left, right) = (self.meaning(&binary.left), self.meaning(&binary.right));
        match binary.op {
            BinOp::Add(_) => left.plus(right),
            BinOp::Sub(_) => left.minus(right),
            BinOp::Mul(_) => left.times(right),
            BinOp::Div(_) => left.divided(right),
            _ => Unknown,
        }
    }

    fn first(&self, arguments: &Punctuated<Expr, Comma>) -> Meaning {
        arguments.first().map_or(Unknown, |first| self.meaning(first))
    }

    fn call(&self, call: &ExprCall) -> Meaning {
        let Some((owner, name)) = self.path(&call.func) else { return Unknown };
        let first = self.first(&call.args);
        match (&*owner, &*name) {
            ("Instant" | "SystemTime", "now") => Moment(Some(0.0)),
            ("Instant" | "SystemTime", "elapsed" | "duration_since") => Measured(1.0),
            ("Duration", "new") => first.seconds(1.0).map_or(Unknown, Duration),
            ("Duration", from) => match (unit(from), first) {
                (Some(unit), Number(number)) => Duration(number * unit),
                _ => Unknown,
            },
            (
                _,
                "Some" | "Ok" | "from" | "try_from" | "pin" | "spawn" | "spawn_blocking"
                | "block_on",
            ) => first,
            (_, name) => match self.name(&format!("{name}()")) {
                // A closure.
                Unknown => self.locals.get(name).copied().unwrap_or(Unknown),
                found => found,
            },
        }
    }

    fn method(&self, call: &ExprMethodCall) -> Meaning {
        let is_epoch = |expr: &Expr| self.path(expr).is_some_and(|(_, name)| name == "UNIX_EPOCH");
        let (receiver, name) = (self.meaning(&call.receiver), call.method.to_string());
        let first = self.first(&call.args);
        match &*name {
            "elapsed" if call.args.is_empty() && !is_epoch(&call.receiver) => Measured(1.0),
            "duration_since" | "saturating_duration_since" | "checked_duration_since" => {
                match call.args.first() {
                    Some(from) if !is_epoch(from) => match receiver.minus(first) {
                        rest @ Duration(_) => rest,
                        _ => Measured(1.0),
                    },
                    _ => Unknown,
                }
            }
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" | "ok"
            | "into" | "try_into" | "clone" | "copied" | "cloned" | "to_owned" | "as_ref"
            | "min" | "max" | "join" | "mul_f32" | "mul_f64" | "div_f32" | "div_f64" => receiver,
            "spawn" | "spawn_blocking" | "block_on" => first,
            "checked_add" | "saturating_add" => receiver.plus(first),
            "checked_sub" | "saturating_sub" => receiver.minus(first),
            "checked_mul" | "saturating_mul" => receiver.times(first),
            "checked_div" => receiver.divided(first),
            _ => match (receiver, unit(&name)) {
                (Measured(_), Some(unit)) => Measured(unit),
                (Duration(seconds), Some(unit)) => Number(seconds / unit),
                _ => self.name(&format!("{name}()")),
            },
        }
    }

    /// What a pattern binds means what its expression means.
    pub(super) fn bind(&mut self, pattern: &Pat, value: Option<&Expr>) {
        if let (Pat::Tuple(pattern), Some(Expr::Tuple(values))) = (pattern, value) {
            for (pattern, value) in pattern.elems.iter().zip(&values.elems) {
                self.bind(pattern, Some(value));
            }
            return;
        }
        let meaning = value.map_or(Unknown, |value| self.meaning(value));
        self.bind_as(pattern, meaning);
    }

    /// Gives all names of a pattern this meaning, in place of what they meant outside.
    pub(super) fn bind_as(&mut self, pattern: &Pat, meaning: Meaning) {
        match pattern {
            Pat::Ident(name) => {
                self.locals.insert(name.ident.to_string(), meaning);
            }
            Pat::Type(inner) => self.bind_as(&inner.pat, meaning),
            Pat::Paren(inner) => self.bind_as(&inner.pat, meaning),
            Pat::Reference(inner) => self.bind_as(&inner.pat, meaning),
            Pat::TupleStruct(inner) if inner.elems.len() == 1 => {
                self.bind_as(&inner.elems[0], meaning);
            }
            Pat::TupleStruct(inner) => {
                inner.elems.iter().for_each(|pattern| self.bind_as(pattern, Unknown));
            }
            Pat::Tuple(inner) => {
                inner.elems.iter().for_each(|pattern| self.bind_as(pattern, Unknown));
            }
            Pat::Struct(inner) => {
                inner.fields.iter().for_each(|field| self.bind_as(&field.pat, Unknown));
            }
            _ => {}
        }
    }

    /// Binds the parameters of a function.
    pub(super) fn bind_inputs(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input {
                let is_moment = is_named(&input.ty, "Instant");
                self.bind_as(&input.pat, if is_moment { Moment(None) } else { Unknown });
            }
        }
    }

    /// Notes a function whose value was measured.
    pub(super) fn note(&mut self, signature: &Signature, block: &Block) {
        let ReturnType::Type(_, output) = &signature.output else { return };
        if let (true, Measured(unit)) = (is_named(output, "Duration"), self.block(block)) {
            Rc::make_mut(&mut self.outer).insert(format!("{}()", signature.ident), Measured(unit));
        }
    }
}

fn is_named(kind: &Type, name: &str) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == name)
}

use proc_macro2::{Span, TokenTree};
use syn::{
    Expr, Ident, Pat, Token, braced,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    token::{Brace, If, Match, Paren},
};

/// The target of a transition: one state, or a choice by data.
pub(crate) enum Branch {
    To(Target),
    If {
        token: If,
        condition: Expr,
        then: Box<Branch>,
        /// Missing where the user forgot it, which is reported.
        otherwise: Option<Box<Branch>>,
    },
    Match {
        token: Match,
        on: Expr,
        arms: Vec<Arm>,
    },
}

/// `pattern if guard => branch`.
pub(crate) struct Arm {
    pub(crate) pattern: Pat,
    pub(crate) guard: Option<Expr>,
    pub(crate) branch: Branch,
    pub(crate) end: Span,
}

/// `Target(field = expr, field)`.
pub(crate) struct Target {
    /// A state, or `Self`.
    pub(crate) state: Ident,
    pub(crate) items: Vec<Given>,
}

/// A field of a target, as one branch gives it.
pub(crate) struct Given {
    pub(crate) field: Ident,
    /// `field` alone stands for `field = field`.
    pub(crate) value: Expr,
}

impl Branch {
    /// The targets, in the order in which they are written.
    pub(crate) fn targets(&self) -> Vec<&Target> {
        let mut targets = Vec::new();
        self.collect(&mut targets, &mut Vec::new());
        targets
    }

    /// The conditions and the values, in the order in which they are written.
    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        let mut expressions = Vec::new();
        self.collect(&mut Vec::new(), &mut expressions);
        expressions
    }

    fn collect<'a>(&'a self, targets: &mut Vec<&'a Target>, expressions: &mut Vec<&'a Expr>) {
        match self {
            Self::To(target) => {
                targets.push(target);
                expressions.extend(target.items.iter().map(|item| &item.value));
            }
            Self::If { condition, then, otherwise, .. } => {
                expressions.push(condition);
                then.collect(targets, expressions);
                if let Some(otherwise) = otherwise {
                    otherwise.collect(targets, expressions);
                }
            }
            Self::Match { on, arms, .. } => {
                expressions.push(on);
                for arm in arms {
                    expressions.extend(&arm.guard);
                    arm.branch.collect(targets, expressions);
                }
            }
        }
    }

    pub(crate) fn is_choice(&self) -> bool {
        !matches!(self, Self::To(_))
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Self::To(target) => target.state.span(),
            Self::If { token, .. } => token.span,
            Self::Match { token, .. } => token.span,
        }
    }
}

impl Target {
    pub(crate) fn new(state: Ident) -> Self {
        Self { state, items: Vec::new() }
    }

    pub(crate) fn stays(&self) -> bool {
        self.state == "Self"
    }
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![if]) {
            let token = input.parse()?;
            let condition = Expr::parse_without_eager_brace(input)?;
            let then = Box::new(in_braces(input)?);
            let otherwise = if input.parse::<Option<Token![else]>>()?.is_none() {
                None
            } else if input.peek(Token![if]) {
                Some(Box::new(input.parse()?))
            } else {
                Some(Box::new(in_braces(input)?))
            };
            return Ok(Self::If { token, condition, then, otherwise });
        }
        if input.peek(Token![match]) {
            let token = input.parse()?;
            let on = Expr::parse_without_eager_brace(input)?;
            let content;
            braced!(content in input);
            let mut arms = Vec::new();
            while !content.is_empty() {
                let (arm, ends_in_brace) = arm(&content)?;
                let last = content.is_empty();
                let comma = content.parse::<Option<Token![,]>>()?;
                if comma.is_none() && !last && !ends_in_brace {
                    return Err(content.error("expected `,` between two arms"));
                }
                arms.push(arm);
            }
            return Ok(Self::Match { token, on, arms });
        }
        if input.peek(Brace) {
            return in_braces(input);
        }
        Ok(Self::To(input.parse()?))
    }
}

fn in_braces(input: ParseStream<'_>) -> syn::Result<Branch> {
    let content;
    braced!(content in input);
    let branch = content.parse()?;
    if !content.is_empty() {
        return Err(content.error("a branch is one state, or another choice"));
    }
    Ok(branch)
}

/// An arm, and whether it ends in a brace, so that no comma has to follow.
fn arm(input: ParseStream<'_>) -> syn::Result<(Arm, bool)> {
    let pattern = input.call(Pat::parse_multi_with_leading_vert)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    input.parse::<Token![=>]>()?;
    let ends_in_brace = !input.peek(Ident) && !input.peek(Token![Self]);
    let (ahead, branch) = (input.fork(), input.parse()?);
    let mut end = input.span();
    while ahead.cursor() != input.cursor() {
        end = match ahead.parse()? {
            TokenTree::Group(group) => group.span_close(),
            token => token.span(),
        };
    }
    Ok((Arm { pattern, guard, branch, end }, ends_in_brace))
}

impl Parse for Target {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let state = if input.peek(Token![Self]) {
            input.call(Ident::parse_any)?
        } else if input.peek(Ident) {
            input.parse()?
        } else {
            return Err(input.error("expected a state, `Self`, `if` or `match`"));
        };
        let mut target = Self::new(state);
        if input.peek(Paren) {
            let content;
            parenthesized!(content in input);
            target.items.extend(Punctuated::<Given, Token![,]>::parse_terminated(&content)?);
        }
        Ok(target)
    }
}

impl Parse for Given {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let field: Ident = input.parse()?;
        let value = if input.parse::<Option<Token![=]>>()?.is_some() {
            input.parse()?
        } else {
            syn::parse_quote!(#field)
        };
        Ok(Self { field, value })
    }
}

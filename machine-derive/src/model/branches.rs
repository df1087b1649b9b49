//! The targets of a transition, and the source of each of their fields.

use std::rc::Rc;

use proc_macro2::Span;
use quote::{ToTokens, format_ident};
use syn::{Ident, Type};

use super::{Brought, Graph, Source, Target, edges, same, scope};
use crate::{
    errors::Errors,
    message::{self, Message},
    parse::{self, Branch, Field, ItemKind, Transition},
    text::pascal,
};

/// The branches of one transition out of one state, while they are resolved.
pub(super) struct Branches<'g, 'a> {
    pub(super) graph: &'g mut Graph<'a>,
    pub(super) from: usize,
    pub(super) transition: &'a Transition,
    pub(super) brought: &'g [Brought<'a>],
    /// The names that patterns on the way to this branch bind.
    pub(super) bound: Vec<Ident>,
    pub(super) path: Vec<String>,
    pub(super) errors: &'g mut Errors,
    /// An item of the payload has a wrong name: fields without a source are not reported.
    pub(super) misnamed: bool,
    pub(super) targets: Vec<Target<'a>>,
    /// False once a target could not be resolved.
    pub(super) is_whole: bool,
}

impl<'a> Branches<'_, 'a> {
    /// Adds the targets of a branch, and reports its mistakes.
    pub(super) fn resolve(&mut self, branch: &'a Branch) {
        match branch {
            Branch::To(written) => match self.target(written) {
                Some(target) => self.targets.push(target),
                None => self.is_whole = false,
            },
            Branch::If { token, condition, then, otherwise } => {
                self.resolve_where(scope::bound_by(condition), edges::of_if(condition), then);
                match otherwise {
                    Some(otherwise) => {
                        self.resolve_where(Vec::new(), edges::ELSE.to_owned(), otherwise);
                    }
                    None => self.errors.at(token.span, message::choice_without_else()),
                }
            }
            Branch::Match { token, on, arms } => {
                if arms.is_empty() {
                    self.errors.at(token.span, message::match_without_arms());
                }
                for arm in arms {
                    let names = scope::names(arm.pattern.to_token_stream());
                    self.resolve_where(names, edges::of_arm(on, arm), &arm.branch);
                }
            }
        }
    }

    /// Adds the targets of a branch behind a condition, whose pattern binds these names.
    fn resolve_where(&mut self, names: Vec<Ident>, condition: String, branch: &'a Branch) {
        let before = self.bound.len();
        for name in &names {
            if self.graph.is_ours(name) {
                self.errors.on(name, message::binding_of_ours(name));
            }
        }
        self.bound.extend(names);
        self.path.push(condition);
        self.resolve(branch);
        self.path.pop();
        self.bound.truncate(before);
    }

    fn target(&mut self, written: &'a parse::Target) -> Option<Target<'a>> {
        let Some(to) = self.graph.target(self.from, written) else {
            let unknown = &written.state;
            self.errors.on(unknown, message::unknown_state(unknown, &self.graph.names()));
            return None;
        };
        let target = self.graph.states[to].written;
        if target.unnamed {
            // Reported; its fields are unknown.
            return None;
        }
        let mut misnamed = self.misnamed;
        for (position, item) in written.items.iter().enumerate() {
            let name = &item.field;
            if written.items[..position].iter().any(|other| other.field == *name) {
                self.errors.on(name, message::duplicate_payload(name));
            }
            if target.field(name).is_none() {
                let names = target.field_names();
                self.errors.on(name, message::no_such_field_here(name, &target.name, &names));
                misnamed = true;
            }
        }
        if misnamed {
            return None;
        }
        let mut fields = Vec::new();
        for field in target.fields.iter().map(Rc::as_ref) {
            fields.extend(self.source(written, target, field).map(|source| (field, source)));
        }
        let when = edges::join(&self.path);
        let whole = fields.len() == target.fields.len();
        whole.then_some(Target { to, stays: written.stays(), when, fields })
    }

    /// The source of a field of a target: an item of this branch, an item of the payload, or the
    /// field of the same name in the source.
    fn source(
        &mut self,
        written: &'a parse::Target,
        target: &'a parse::State,
        field: &'a Field,
    ) -> Option<Source<'a>> {
        let name = &field.name;
        if let Some(given) = written.items.iter().find(|item| item.field == *name) {
            return Some(Source::Computed(&given.value));
        }
        if let Some(bound) = self.bound.iter().find(|bound| *bound == name) {
            let text = message::captured_field(name, &target.name);
            self.errors.on(bound, text);
            return None;
        }
        let item = self.transition.payload.iter().find(|item| item.name == *name);
        let source = &self.graph.declaration.states[self.from];
        match item.map(|item| &item.kind) {
            Some(ItemKind::Field) => {
                let brought = self.brought.iter().find(|brought| brought.name == name)?;
                let found = brought.ty;
                let message = |found: &str, expected: &str| {
                    message::brought_type_differs(name, found, (&target.name, expected))
                };
                let question = format_ident!("Bring{}To{}", pascal(name), target.name);
                Some(Source::Brought(self.same(question, found, &field.ty, name.span(), message)))
            }
            Some(ItemKind::Computed(value)) => Some(Source::Computed(value)),
            Some(ItemKind::Noted(_)) | None => {
                let Some(carried) = source.field(name) else {
                    let text = message::uncovered_field(name, &target.name, &source.name);
                    let span = if self.transition.leads.is_choice() {
                        written.state.span()
                    } else {
                        self.transition.trigger.span()
                    };
                    self.errors.at(span, text);
                    return None;
                };
                let message = |found: &str, expected: &str| {
                    message::carried_type_differs(
                        name,
                        (&source.name, found),
                        (&target.name, expected),
                    )
                };
                let question =
                    format_ident!("Carry{}From{}To{}", pascal(name), source.name, target.name);
                let span = self.transition.trigger.span();
                Some(Source::Carried(self.same(question, &carried.ty, &field.ty, span, message)))
            }
        }
    }

    fn same(
        &mut self,
        name: Ident,
        found: &'a Type,
        expected: &'a Type,
        span: Span,
        message: impl FnOnce(&str, &str) -> Message,
    ) -> Option<usize> {
        let same = &mut self.graph.same;
        same::require(same, name, (found, expected), span, false, message)
    }
}

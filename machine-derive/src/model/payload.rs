//! What a transition brings, and where each field of its targets comes from.

use proc_macro2::Span;
use quote::{ToTokens, format_ident};
use syn::{Expr, Ident, Type};

use heck::ToPascalCase;

use super::{Arm, Brought, Graph, Leads, Same, Source, Target, graph::bare, scope};
use crate::{
    errors::Errors,
    message::{self, Message},
    parse::{self, Branch, Field, ItemKind, Transition},
    text,
};

/// Resolves the payload and the targets of a transition out of one state; `None` when something in
/// it was reported.
pub(super) fn resolve<'a>(
    graph: &mut Graph<'a>,
    from: usize,
    transition: &'a Transition,
    errors: &mut Errors,
) -> Option<(Vec<Brought<'a>>, Leads<'a>)> {
    let before = errors.len();
    let mut noted = Vec::new();
    let brought = brought(graph, from, transition, &mut noted, errors);
    let bound = Vec::new();
    let mut payload =
        Payload { graph, from, transition, brought, noted, bound, errors, misnamed: false };
    if payload.errors.len() > before {
        payload.misnamed = true;
    }
    let leads = payload.leads(&transition.leads);
    payload.names_are_clear();
    let Payload { brought, .. } = payload;
    leads.filter(|_| errors.len() == before).map(|leads| (brought, leads))
}

/// What the caller brings.
fn brought<'a>(
    graph: &Graph<'a>,
    from: usize,
    transition: &'a Transition,
    noted: &mut Vec<Ident>,
    errors: &mut Errors,
) -> Vec<Brought<'a>> {
    let targets: Vec<(&parse::Target, &'a parse::State)> = transition
        .leads
        .targets()
        .into_iter()
        .filter_map(|target| Some((target, state(graph, from, target)?)))
        .collect();
    let mut brought = Vec::new();
    for (position, item) in transition.payload.iter().enumerate() {
        let name = &item.name;
        if transition.payload[..position].iter().any(|other| other.name == *name) {
            errors.at(name.span(), message::duplicate_payload(name));
        }
        if *name == "trigger"
            && !matches!(item.kind, ItemKind::Computed(_))
            && graph.declaration.derives_serde()
        {
            errors.at(name.span(), message::reserved_item(name));
        }
        let mut fields = targets
            .iter()
            .filter_map(|(target, state)| Some((*target, *state, field(state, name)?)));
        let field = fields.next();
        let gives = |target: &parse::Target| target.items.iter().any(|item| item.field == *name);
        let never_used = matches!(item.kind, ItemKind::Computed(_))
            && field.is_some_and(|(target, ..)| gives(target))
            && fields.clone().all(|(target, ..)| gives(target));
        if never_used {
            errors.at(name.span(), message::duplicate_payload(name));
        }
        match (&item.kind, field) {
            (ItemKind::Field | ItemKind::Computed(_), None) => {
                // A target that is not a state was reported, or will be.
                let named = || targets.iter().filter(|(_, state)| !state.unnamed);
                let fields = named().flat_map(|(_, state)| &state.fields);
                let fields: Vec<&Ident> = fields.map(|field| &field.name).collect();
                match named().next() {
                    Some(_) if transition.leads.is_choice() => {
                        let trigger = &transition.trigger;
                        errors.at(name.span(), message::no_such_item(name, trigger, &fields));
                    }
                    Some((_, target)) => {
                        errors.at(name.span(), message::no_such_field(name, &target.name, &fields));
                    }
                    None => {}
                }
            }
            (ItemKind::Field, Some((_, _, field))) => {
                let was = if item.was.is_empty() { &field.was } else { &item.was };
                brought.push(Brought { name, ty: &field.ty, was });
            }
            (ItemKind::Noted(ty), field) => {
                let mut unset = field.into_iter().chain(fields);
                if let Some((_, state, _)) = unset.find(|(target, ..)| !gives(target)) {
                    errors.at(name.span(), message::noted_is_a_field(name, &state.name));
                    noted.push(name.clone());
                }
                brought.push(Brought { name, ty, was: &item.was });
            }
            (ItemKind::Computed(_), Some(_)) => {}
        }
    }
    brought
}

fn field<'a>(state: &'a parse::State, name: &Ident) -> Option<&'a Field> {
    state.fields.iter().find(|field| field.name == *name)
}

/// The state that a target names, if there is one.
fn state<'a>(graph: &Graph<'a>, from: usize, target: &parse::Target) -> Option<&'a parse::State> {
    let index = if target.stays() { Some(from) } else { graph.state(&target.state) };
    index.map(|index| graph.states[index].written)
}

struct Payload<'g, 'a> {
    graph: &'g mut Graph<'a>,
    from: usize,
    transition: &'a Transition,
    brought: Vec<Brought<'a>>,
    /// The items that were reported because a target has a field of that name.
    noted: Vec<Ident>,
    /// What the patterns on the way to this branch bind.
    bound: Vec<Ident>,
    errors: &'g mut Errors,
    /// A field that nothing gives may be the one that was meant by a wrong name.
    misnamed: bool,
}

impl<'a> Payload<'_, 'a> {
    fn leads(&mut self, branch: &'a Branch) -> Option<Leads<'a>> {
        match branch {
            Branch::To(target) => self.target(target).map(Leads::To),
            Branch::If { token, condition, then, otherwise } => {
                let bound = self.bound.len();
                self.bind(scope::bound_by(condition));
                let then = self.leads(then);
                self.bound.truncate(bound);
                let Some(otherwise) = otherwise else {
                    self.errors.at(token.span, message::choice_without_else());
                    return None;
                };
                let (then, otherwise) = (Box::new(then?), Box::new(self.leads(otherwise)?));
                Some(Leads::If { token, condition, then, otherwise })
            }
            Branch::Match { token, on, arms } => {
                if arms.is_empty() {
                    self.errors.at(token.span, message::match_without_arms());
                    return None;
                }
                let mut resolved = Vec::new();
                for arm in arms {
                    let bound = self.bound.len();
                    self.bind(scope::names(arm.pattern.to_token_stream()));
                    let leads = self.leads(&arm.branch);
                    self.bound.truncate(bound);
                    let (pattern, guard) = (&arm.pattern, arm.guard.as_ref());
                    resolved.extend(leads.map(|leads| Arm { pattern, guard, leads }));
                }
                let whole = resolved.len() == arms.len();
                whole.then_some(Leads::Match { token, on, arms: resolved })
            }
        }
    }

    /// A pattern binds these names for its branch.
    fn bind(&mut self, names: Vec<Ident>) {
        let has_context = self.graph.declaration.options.context.is_some();
        for name in &names {
            if name == "source" || name == "status" || name == "context" && has_context {
                self.errors.at(name.span(), message::binding_of_ours(name));
            }
        }
        self.bound.extend(names);
    }

    fn target(&mut self, written: &'a parse::Target) -> Option<Target<'a>> {
        let states = &self.graph.declaration.states;
        let index =
            if written.stays() { Some(self.from) } else { self.graph.state(&written.state) };
        let Some(to) = index else {
            let names: Vec<&Ident> = states.iter().map(|state| &state.name).collect();
            let unknown = &written.state;
            self.errors.at(unknown.span(), message::unknown_state(unknown, &names));
            return None;
        };
        let target = &states[to];
        if target.unnamed {
            // Reported; whatever is said of its fields, it has none yet.
            return None;
        }
        let mut misnamed = self.misnamed;
        for (position, item) in written.items.iter().enumerate() {
            let name = &item.field;
            if written.items[..position].iter().any(|other| other.field == *name) {
                self.errors.at(name.span(), message::duplicate_payload(name));
            }
            if field(target, name).is_none() {
                let names: Vec<&Ident> = target.fields.iter().map(|field| &field.name).collect();
                self.errors
                    .at(name.span(), message::no_such_field_here(name, &target.name, &names));
                misnamed = true;
            }
        }
        if misnamed {
            return None;
        }
        let mut fields = Vec::new();
        for field in &target.fields {
            fields.extend(self.source(written, target, field).map(|source| (field, source)));
        }
        let whole = fields.len() == target.fields.len();
        let span = written.state.span();
        whole.then_some(Target { to, stays: written.stays(), span, fields })
    }

    /// Where a field of a target comes from: what this branch says, what the payload says, the
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
            self.errors.at(bound.span(), text);
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
                let Some(carried) = source.fields.iter().find(|field| field.name == *name) else {
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
        ask_if_same(same, name, (found, expected), span, false, message)
    }

    /// A name in an expression means one thing.
    fn names_are_clear(&mut self) {
        let source = &self.graph.declaration.states[self.from];
        let has_context = self.graph.declaration.options.context.is_some();
        let mut expressions: Vec<&Expr> = Vec::new();
        for item in &self.transition.payload {
            if let ItemKind::Computed(value) = &item.kind {
                expressions.push(value);
            }
        }
        written_expressions(&self.transition.leads, &mut expressions);
        expressions.extend(&self.transition.after);
        self.source_is_used_in_one_way(&expressions);
        for expression in expressions {
            let mut reported: Vec<Ident> = Vec::new();
            let by_field_only = scope::uses_of_source(expression.to_token_stream()).1.is_none();
            for name in scope::names(expression.to_token_stream()) {
                // `source.plan` is clear, whatever else is called `source`.
                if name == "source" && by_field_only {
                    continue;
                }
                let of_source = field(source, &name).is_some();
                let of_payload = self.brought.iter().any(|brought| *brought.name == name);
                let ours = name == "source" || name == "status" || name == "context" && has_context;
                let meanings = [of_source, of_payload, ours];
                // An item that has the name of a target's field was reported as that.
                let noted = self.noted.contains(&name);
                if meanings.iter().filter(|meaning| **meaning).count() < 2
                    || noted
                    || reported.contains(&name)
                {
                    continue;
                }
                let text = if of_source && of_payload {
                    message::ambiguous_name(&name, &source.name)
                } else {
                    message::name_of_ours(&name, of_source.then_some(&source.name))
                };
                self.errors.at(name.span(), text);
                reported.push(name);
            }
        }
    }
}

impl Payload<'_, '_> {
    /// A field that is named by itself is taken out of the source, so `source` no longer has it.
    fn source_is_used_in_one_way(&mut self, expressions: &[&Expr]) {
        let source = &self.graph.declaration.states[self.from];
        let uses = expressions.iter().map(|one| scope::uses_of_source(one.to_token_stream()));
        let (mut by_field, mut whole) = (Vec::new(), None);
        for (fields, other) in uses {
            by_field.extend(fields);
            whole = whole.or(other);
        }
        let alone = expressions.iter().flat_map(|one| scope::names(one.to_token_stream()));
        let twice = alone.into_iter().find(|name| {
            let is_field = *name != "source" && field(source, name).is_some();
            is_field && (whole.is_some() || by_field.contains(name))
        });
        if let Some(name) = twice {
            self.errors.at(name.span(), message::taken_and_in_source(&name, whole.is_some()));
        }
    }
}

/// Every expression of a branch as it is written.
fn written_expressions<'a>(branch: &'a Branch, expressions: &mut Vec<&'a Expr>) {
    match branch {
        Branch::To(target) => expressions.extend(target.items.iter().map(|item| &item.value)),
        Branch::If { condition, then, otherwise, .. } => {
            expressions.push(condition);
            written_expressions(then, expressions);
            if let Some(otherwise) = otherwise {
                written_expressions(otherwise, expressions);
            }
        }
        Branch::Match { on, arms, .. } => {
            expressions.push(on);
            for arm in arms {
                expressions.extend(&arm.guard);
                written_expressions(&arm.branch, expressions);
            }
        }
    }
}

/// Has the compiler decide whether two types are the same, where their texts differ.
pub(super) fn ask_if_same<'a>(
    same: &mut Vec<Same<'a>>,
    mut name: Ident,
    (found, expected): (&'a Type, &'a Type),
    span: Span,
    alone: bool,
    message: impl FnOnce(&str, &str) -> Message,
) -> Option<usize> {
    let (here, there) =
        (text::of_type(found.to_token_stream()), text::of_type(expected.to_token_stream()));
    if here == there {
        return None;
    }
    if same.iter().any(|other| other.name == name) {
        name = format_ident!("{}{}", name, same.len());
    }
    let message = message(&here, &there);
    same.push(Same { name, found, expected, message, span, alone });
    Some(same.len() - 1)
}

pub(super) fn pascal(name: &Ident) -> String {
    bare(name).to_pascal_case()
}

//! The work of a move: the names in the user's expressions, the choice, the next state, the
//! journal.

use std::slice::Iter;

use super::{
    names::{self, Names},
    start,
};
use crate::{
    model::{Graph, Move, Same, Source, State, Target, Way, as_bound, names_in, resolved_at},
    parse::Branch,
    text::bare,
};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident};

/// The body, given `machine`, the payload and, if there is a journal, `actor`.
pub(super) fn emit(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let from = names.source(step);
    // The payload goes into the journal unchanged, before anything takes it apart.
    let journal = names.durable.then(|| {
        let items = names.trigger(step).brought.iter().map(|brought| {
            let (name, text) = (local(from, brought.name), bare(brought.name));
            hygienic!(let payload = __machine::__private::Value(&#name).add_to(payload, #text);)
        });
        let items: Vec<_> = items.collect();
        // In a block, so that the user's expressions do not see its methods.
        let unstorable = (!items.is_empty()).then(|| {
            hygienic! {
                #[allow(unused_imports)]
                use __machine::__private::Unstorable as _;
            }
        });
        hygienic! {
            let mut core = machine.core;
            let payload = {
                #unstorable
                let payload =
                    <__machine::__private::Payload as ::core::default::Default>::default();
                #(#items)*
                payload
            };
        }
    });
    let scope = Scope::of(names.graph, step);
    let bindings = scope.bindings(names);
    let leads = leads(names, &scope, &step.written.leads, &mut step.leads.iter());
    hygienic!(#journal #bindings #leads)
}

/// The lints of a choice: rustc only warns of an arm that is never taken.
pub(super) fn lints(step: &Move<'_>) -> Option<TokenStream> {
    step.is_choice().then(|| hygienic!(#[deny(unreachable_patterns)]))
}

pub(super) fn uses_source(step: &Move<'_>) -> bool {
    let mut fields = step.leads.iter().flat_map(|target| &target.fields);
    step.is_choice() || fields.any(|(_, source)| !matches!(source, Source::Brought(_)))
}

/// The variable for a payload item. A field of the source with the same name would shadow it.
pub(super) fn local(from: &State<'_>, name: &Ident) -> Ident {
    if from.written.field(name).is_some() {
        let span = Span::mixed_site().located_at(name.span());
        format_ident!("brought_{}", bare(name), span = span)
    } else {
        name.clone()
    }
}

/// The conversion between two types, which exists if they are the same.
pub(super) fn convert(same: &Same<'_>) -> TokenStream {
    let Same { name, found, expected, span, .. } = same;
    hygienic_at!(*span => <#found as same::#name<#expected>>::same)
}

struct Scope<'a> {
    step: &'a Move<'a>,
    from: &'a State<'a>,
    /// The names of the payload.
    items: Vec<&'a Ident>,
    /// The names that they use.
    used: Vec<Ident>,
    /// The fields that are bound by themselves although `source` is bound, too.
    taken: Vec<&'a Ident>,
}

impl<'a> Scope<'a> {
    fn of(graph: &'a Graph<'a>, step: &'a Move<'a>) -> Self {
        let from = &graph.states[step.from];
        let expressions = step.written.expressions();
        let tokens = expressions.iter().map(ToTokens::to_token_stream);
        let used: Vec<Ident> = tokens.flat_map(names_in).collect();
        let fields = from.written.field_names().into_iter();
        let taken = fields.filter(|field| *field != "source" && used.contains(field)).collect();
        Self { step, from, items: graph.triggers[step.trigger].items(), used, taken }
    }

    /// An expression, a pattern or a name, in which names mean the variables that are bound.
    fn resolved(&self, written: impl ToTokens) -> TokenStream {
        let [source, status, context] = ["source", "status", "context"].map(|it| self.use_of(it));
        let fields = self.from.written.field_names();
        let names = source.into_iter().chain(fields).chain(self.items.iter().copied());
        let names: Vec<&Ident> = names.chain(status).chain(context).collect();
        as_bound(written.into_token_stream(), &names)
    }

    fn use_of(&self, name: &str) -> Option<&Ident> {
        self.used.iter().find(|used| *used == name)
    }

    fn bindings(&self, names: &Names<'_>) -> TokenStream {
        let name = self.from.name();
        let fields = self.from.written.field_names();
        let source = match self.use_of("source") {
            Some(source) => {
                let taken = self.taken.iter();
                let taken = taken.map(|field| hygienic!(let #field = #source.#field;));
                hygienic!(let #source = machine.state; #(#taken)*)
            }
            // Fields are bound only where something uses them.
            None if uses_source(self.step) && !fields.is_empty() => {
                hygienic!(let #name { #(#fields),* } = machine.state;)
            }
            None => TokenStream::new(),
        };
        let context = self.use_of("context").filter(|_| names.has_context()).map(|context| {
            if names.durable {
                hygienic!(let #context = core.__context();)
            } else {
                hygienic!(let #context = &machine.context;)
            }
        });
        // If a field or a payload item has this name, using it is an error.
        let status = self.use_of("status").filter(|status| {
            self.from.written.field(status).is_none() && !self.items.contains(status)
        });
        let status = status.map(|status| hygienic!(let #status = Status::#name;));
        hygienic!(#context #source #status)
    }

    fn carried(&self, field: &Ident) -> TokenStream {
        match self.use_of("source") {
            Some(source) if !self.taken.contains(&field) => hygienic!(#source.#field),
            _ => self.resolved(field),
        }
    }
}

fn leads(
    names: &Names<'_>,
    scope: &Scope<'_>,
    branch: &Branch,
    targets: &mut Iter<'_, Target<'_>>,
) -> TokenStream {
    match branch {
        Branch::To(_) => targets.map(|to| target(names, scope, to)).next().unwrap_or_default(),
        Branch::If { token, condition, then, otherwise } => {
            let condition = scope.resolved(condition);
            let then = leads(names, scope, then, targets);
            let otherwise = otherwise.as_ref().map(|branch| {
                let otherwise = leads(names, scope, branch, targets);
                hygienic!(else { #otherwise })
            });
            hygienic!(#token #condition { #then } #otherwise)
        }
        Branch::Match { token, on, arms } => {
            let on = scope.resolved(on);
            let arms = arms.iter().map(|arm| {
                let pattern = scope.resolved(&arm.pattern);
                let guard = arm.guard.as_ref().map(|guard| {
                    let guard = scope.resolved(guard);
                    hygienic!(if #guard)
                });
                let leads = leads(names, scope, &arm.branch, targets);
                // Rustc suggests further arms after the last one, so the body has the span of its
                // end.
                let mut body = Group::new(Delimiter::Brace, leads);
                body.set_span(Span::mixed_site().located_at(arm.end));
                hygienic!(#pattern #guard => #body)
            });
            hygienic!(#token #on { #(#arms)* })
        }
    }
}

/// The machine in the target state of this branch.
fn target(names: &Names<'_>, scope: &Scope<'_>, target: &Target<'_>) -> TokenStream {
    let (typed, step) = (&names.typed, scope.step);
    // Computed fields come first, in the order in which they are written: they may use fields that
    // are moved later.
    let expressions = step.written.expressions().into_iter();
    let computed = expressions.filter_map(|value| {
        let is_it = |source: &Source<'_>| matches!(source, Source::Computed(it) if std::ptr::eq(*it, value));
        let (field, _) = target.fields.iter().find(|(_, source)| is_it(source))?;
        let (fresh, ty) = (computed_name(&field.name), &field.ty);
        let value = scope.resolved(value);
        Some(hygienic!(let #fresh: #ty = #value;))
    });
    let state = next_state(names.graph, scope, target);
    let (bound, state) = if names.durable {
        let edge = names::index(step.edge(target.to));
        let entered = if target.stays {
            hygienic!(core.__stayed(DEFINITION, #edge, actor, payload);)
        } else {
            let started = start::on_entry(names, Some(step.from), target.to);
            hygienic!(core.__moved(DEFINITION, #edge, actor, payload, &[#(#started),*]);)
        };
        (hygienic!(let state = #state; #entered), hygienic!(state))
    } else {
        (TokenStream::new(), hygienic!(state: #state))
    };
    let kept = match (names.durable, names.has_context()) {
        (true, _) => hygienic!(core,),
        (false, true) => hygienic!(context: machine.context,),
        (false, false) => hygienic!(),
    };
    let marker = names.params.marker().map(|_| hygienic!(marker: ::core::marker::PhantomData,));
    let next = hygienic!(#typed { #kept #marker #state });
    if !step.is_choice() {
        return hygienic!(#(#computed)* #bound #next);
    }
    let trigger = names.trigger(step);
    let (after, stays) = (names::after(trigger), trigger.may_stay() && target.stays);
    let variant = names.graph.variant(if stays { Way::Same } else { Way::To(target.to) });
    hygienic!(#(#computed)* #bound #after::#variant(#next))
}

fn next_state(graph: &Graph<'_>, scope: &Scope<'_>, target: &Target<'_>) -> TokenStream {
    let to = graph.states[target.to].name();
    if target.fields.is_empty() {
        return hygienic!(#to);
    }
    let same = |value: TokenStream, same: &Option<usize>| match same {
        None => value,
        Some(same) => {
            let convert = convert(&graph.same[*same]);
            hygienic!(#convert(#value))
        }
    };
    let fields = target.fields.iter().map(|(field, source)| {
        let name = &field.name;
        let value = match source {
            Source::Computed(_) => computed_name(name).to_token_stream(),
            Source::Brought(asked) => {
                let brought = graph.triggers[scope.step.trigger].brought.iter();
                let brought = brought.map(|it| it.name).find(|it| *it == name).unwrap_or(name);
                let name = resolved_at(name, brought.span());
                same(local(scope.from, &name).to_token_stream(), asked)
            }
            Source::Carried(asked) => same(scope.carried(name), asked),
        };
        if *name == value.to_string() { hygienic!(#value) } else { hygienic!(#name: #value) }
    });
    hygienic!(#to { #(#fields),* })
}

fn computed_name(field: &Ident) -> Ident {
    format_ident!("computed_{}", bare(field), span = Span::mixed_site())
}

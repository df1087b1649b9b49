use std::{any::TypeId, collections::BTreeMap};

use super::{
    Actor, Anyone, Call, Category, EcsNode, GraphRunner, Human, Library, ReasoningNode, ToolNode,
    is_genuine, is_reserved,
};

/// The actor who sent a message, when a worker makes the move for it. The message was sent with a
/// value of that actor's type, and its seal was checked.
#[derive(Debug)]
pub(crate) struct Sender {
    acts_as: (TypeId, &'static str),
    name: Option<String>,
}

impl Actor for Sender {
    const KIND: &'static str = "sender";
    const CATEGORY: Category = Category::System;
    const __LIBRARY: Option<Library<Self>> = Some(Library::acting(|sender| sender.acts_as));

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The actors whose messages a worker applies, by the names that they have and had.
#[derive(Debug, Clone)]
pub(crate) struct Senders(BTreeMap<&'static str, (TypeId, &'static str)>);

impl Senders {
    /// The actors of this library.
    pub(crate) fn new() -> Self {
        let mut senders = Self(BTreeMap::new());
        senders.add::<Anyone>();
        senders.add::<Call>();
        senders.add::<EcsNode>();
        senders.add::<GraphRunner>();
        senders.add::<Human>();
        senders.add::<ReasoningNode>();
        senders.add::<ToolNode>();
        senders
    }

    /// Adds a kind. A type with the name of an existing one changes nothing.
    pub(crate) fn add<A: Actor>(&mut self) {
        if !is_genuine::<A>() {
            return;
        }
        let acts_as = (TypeId::of::<A>(), A::KIND);
        // A name belongs to who has it now, not to who had it.
        if self.0.get(A::KIND).is_none_or(|(_, kind)| *kind != A::KIND) {
            self.0.insert(A::KIND, acts_as);
        }
        if let Some(was) = A::WAS.filter(|was| !is_reserved(was)) {
            self.0.entry(was).or_insert(acts_as);
        }
    }

    /// The sender of this kind and name.
    pub(crate) fn get(&self, kind: &str, name: Option<&str>) -> Option<Sender> {
        let acts_as = *self.0.get(kind)?;
        Some(Sender { acts_as, name: name.map(str::to_owned) })
    }
}

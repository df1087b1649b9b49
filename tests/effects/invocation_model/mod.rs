//! Join and wait: what becomes of a declared call when its machine leaves the state and comes back.
//! The checker goes through every order of what machines, workers, the bank and people do, and
//! finds what is wrong with broken twins of the rules. `INVOCATION_MODEL_LONG=1` takes minutes,
//! with three entries of two machines, and sets with all accidents.
//!
//! A call *has its key* from its permit on, until evidence or a person says that it was not
//! applied; with a receipt, for ever. It is *under way* if it is irreversible, has its key, its
//! machine has not taken its outcome, and nobody has overridden it. Both join and wait ask this,
//! and nothing else.
//!
//! # Enter
//!
//! The commit that enters decides for each member, in order:
//!
//! 1. A call of this machine is under way, with the same key and digest, and no earlier member of
//!    this entry has joined it: the member *joins* it. There is at most one.
//! 2. Such a call has another digest: the outcome is `Differs`, at once. It must not wait for that
//!    call: its gate could be declined in the meantime, and the machine would say "not" while the
//!    other call is in doubt.
//! 3. Another call has applied the key: `AlreadyDone` if its digest is the same, otherwise
//!    `Differs`. Nobody is asked.
//! 4. A person declined the newest call of this machine with the same key and digest, and the
//!    machine has not taken the outcome: the member joins it, so that nobody is asked again.
//! 5. Otherwise a call is created. If another one holds the key, of another machine or of this
//!    entry, it waits, and ends by rule 3 or begins. So the second of two equal members begins only
//!    if the first one was not applied.
//!
//! What else has ended without effect is never joined: the new entry tries again. An idempotent
//! call has no key, and is never joined. A call that is joined has begun or was declined, so a new
//! entry asks nobody to approve it; `within` begins again.
//!
//! Joining writes to the machine only: which execution is which member. What was read may change
//! before the commit. It needs no condition but the version of the machine.
//!
//! # Leave
//!
//! - A transition that leaves without `detach` waits while a member of the entry is under way.
//!   Transitions on an outcome do not wait. A state that enters itself leaves the calls that the
//!   new entry does not join.
//! - A transition that ends the machine without `detach` waits while any call of the machine is
//!   under way, also one that an earlier `detach` has left. A `detach` excuses the transition that
//!   says it, and no later one.
//! - Each transition that leaves withdraws, in its batch, the members that have not begun, and
//!   their gates. So no entry finds a call that has not begun, and no gate is ever joined.
//! - A machine from which `detach` leads to a state without a way back has to say `detach` where it
//!   ends, too: it would wait for ever for a receipt that no entry takes. The table is an error.
//!
//! # Outcome
//!
//! - There is one message for each call, and it names the call. Whether it is one of the current
//!   entry, and which member, is looked up when the message is taken, because an entry may join a
//!   call after its message was sent.
//! - The state takes only messages of the current entry. Others stay in the inbox, and are shown:
//!   an entry may still join their calls. The commit of an entry acknowledges those of calls that
//!   have ended, that it does not join, and that are neither under way nor declined. Without a
//!   transition, a worker acknowledges none: an entry that was read before would wait for ever.
//! - A transition on an outcome leaves its own call behind, and no other. So on one outcome of a
//!   set (`each`) it stays, or leaves with `detach`; anything else is an error in the table. To
//!   wait for the other members would be a deadlock: two receipts wait for each other. When all
//!   outcomes are there (`done`), it leaves.
//! - `Overdue` is no outcome. The machine is told once for each member and entry; a transition on
//!   it stays, or leaves with `detach`. The outcome comes later, like any other.
//! - After an override the call is not under way, its key is free, and the machine gets "not
//!   applied" by that person. If a receipt comes after all, a later entry gets `AlreadyDone`.
//!
//! The members of a set in this model have one key or two. A person retries no call of a machine:
//! that is refused today, and has to stay so. People say "it was paid" and "it was not paid" only
//! if that is true; an override says it unseen.

mod act;
mod defect;
mod ends;
mod properties;
mod rules;
mod scenario;
mod step;
mod tests;
mod world;

//! Comparison of the calls that a state makes.

use alloc::{format, string::String};

use super::Differences;
use crate::definition::{Invocation, StateDef};

impl Differences {
    /// A machine in the state has the calls of the older definition, and waits for their outcomes.
    pub(super) fn invocation(&mut self, old: &StateDef, new: &StateDef) {
        let state = &new.name;
        match (&old.invocation, &new.invocation) {
            (None, None) => {}
            (None, Some(now)) if now.adopt => self.allow(format!(
                "state `{state}` calls {}; machines that are in it make the call when a worker claims them",
                now.label()
            )),
            (None, Some(now)) => self.refuse(
                Some(&old.name),
                format!(
                    "state `{state}` calls {}, and machines that are in it have no call to wait for: write `adopt` on the \
                     invocation, which makes it for them, or keep the state as it was until none is in it",
                    now.label()
                ),
            ),
            (Some(before), None) => {
                // That the state is now terminal strands them, too, and is reported once.
                let strands = (!new.terminal).then(|| {
                    String::from(
                        "the outcome of a call that has begun is dropped: keep the call until no machine is in \
                         the state",
                    )
                });
                self.strand(format!("state `{state}` no longer calls {}", before.label()), strands);
            }
            (Some(before), Some(now)) if calls_the_same(before, now) => {
                if before.name != now.name {
                    self.allow(format!("call `{}` was renamed to `{}`", before.name, now.name));
                }
            }
            (Some(before), Some(now)) => self.refuse(
                Some(&old.name),
                format!(
                    "state `{state}` calls {} instead of {}, whose outcome machines that are in it wait for: keep the state \
                     as it was until none is in it, and give the new call a state of its own",
                    whole(now),
                    whole(before)
                ),
            ),
        }
    }
}

/// Everything that decides how an outcome is read, for people.
fn whole(invocation: &Invocation) -> String {
    let tool = invocation.tool_name().unwrap_or_default();
    let effect = if invocation.irreversible { "irreversible" } else { "idempotent" };
    let separator = if tool.is_empty() { "" } else { ", " };
    format!("{} ({tool}{separator}{effect})", invocation.label())
}

/// Returns whether an outcome of the one can be read as one of the other.
fn calls_the_same(before: &Invocation, now: &Invocation) -> bool {
    (&before.service, &before.method, before.set, before.irreversible)
        == (&now.service, &now.method, now.set, now.irreversible)
}

use core::time::Duration;

/// A transition that becomes due after some time in a state, or in a group of states.
///
/// ```
/// use std::time::Duration;
///
/// use machine::machine;
///
/// /// A question with a time limit.
/// #[machine(context = Duration)]
/// #[derive(Debug)]
/// pub enum Question {
///     #[initial]
///     #[on(answer(text) => Answered)]
///     #[on(timeout => Unanswered, by = machine::actor::GraphRunner, after = *context)]
///     Asked,
///     #[terminal]
///     Answered { text: String },
///     #[terminal]
///     Unanswered,
/// }
///
/// fn main() {
///     let asked = Question::new(Duration::from_secs(30));
///     let deadline = asked.deadlines().next().unwrap();
///     assert_eq!((deadline.trigger, deadline.after), ("timeout", Duration::from_secs(30)));
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Deadline {
    /// The trigger of the transition.
    pub trigger: &'static str,
    /// The time since entering the state or, for a group's deadline, the group.
    pub after: Duration,
}

/// The types that `after = ..` accepts: [`Duration`] and `Option<Duration>`, where `None` means no
/// deadline.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a duration",
    label = "`after` takes a `Duration` or an `Option<Duration>`",
    note = "for example `after = Duration::from_secs(30)`; for a point in time, give the time until then: \
            `after = until.duration_since(SystemTime::now()).unwrap_or_default()`"
)]
pub trait IntoDeadline {
    /// The duration of the deadline, if any.
    fn into_deadline(self) -> Option<Duration>;
}

impl IntoDeadline for Duration {
    fn into_deadline(self) -> Option<Duration> {
        Some(self)
    }
}

impl IntoDeadline for Option<Duration> {
    fn into_deadline(self) -> Option<Duration> {
        self
    }
}

/// The deadline of a trigger, if any.
#[doc(hidden)]
pub fn after(trigger: &'static str, after: impl IntoDeadline) -> Option<Deadline> {
    after.into_deadline().map(|after| Deadline { trigger, after })
}

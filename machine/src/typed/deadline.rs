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
    /// The time since entering the state or, for a group's deadline, the group; zero for a point in
    /// time.
    pub after: Duration,
    /// The point in time of `at = ..`, in milliseconds since the Unix epoch.
    pub at: Option<i64>,
}

/// The types that `after = ..` accepts: [`Duration`] and `Option<Duration>`, where `None` means no
/// deadline.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a duration",
    label = "`after` takes a `Duration` or an `Option<Duration>`",
    note = "for example `after = Duration::from_secs(30)`; for a point in time, write `at = ..`"
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
    after.into_deadline().map(|after| Deadline { trigger, after, at: None })
}

/// The types that `at = ..` accepts: milliseconds since the Unix epoch, a `SystemTime` (feature
/// `durable`), and an `Option` of either, where `None` means no deadline.
#[cfg_attr(
    feature = "durable",
    diagnostic::on_unimplemented(
        message = "`{Self}` is not a point in time",
        label = "`at` takes a `SystemTime`, milliseconds since the Unix epoch as an `i64`, or an `Option` of either",
        note = "for a time that is counted from entering the state, write `after = ..`"
    )
)]
#[cfg_attr(
    not(feature = "durable"),
    diagnostic::on_unimplemented(
        message = "`at` does not take `{Self}`",
        label = "`at` takes milliseconds since the Unix epoch as an `i64`, or an `Option` of them",
        note = "with the feature `durable` of `machine`, `at` takes a `SystemTime`, too",
        note = "for a time that is counted from entering the state, write `after = ..`"
    )
)]
pub trait IntoMoment {
    /// The point in time in milliseconds since the Unix epoch, if any.
    fn into_moment(self) -> Option<i64>;
}

impl IntoMoment for i64 {
    fn into_moment(self) -> Option<i64> {
        Some(self)
    }
}

#[cfg(feature = "durable")]
impl IntoMoment for std::time::SystemTime {
    fn into_moment(self) -> Option<i64> {
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Some(match self.duration_since(Self::UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        })
    }
}

impl<T: IntoMoment> IntoMoment for Option<T> {
    fn into_moment(self) -> Option<i64> {
        self.and_then(T::into_moment)
    }
}

/// The deadline of a trigger at a point in time, if any.
#[doc(hidden)]
pub fn at(trigger: &'static str, at: impl IntoMoment) -> Option<Deadline> {
    at.into_moment().map(|at| Deadline { trigger, after: Duration::ZERO, at: Some(at) })
}

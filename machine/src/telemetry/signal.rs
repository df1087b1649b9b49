//! Expansion of a line of the table to code.

/// A span or an event of this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// The name in the metadata of `tracing`, such as `machine.transition`. Events have it as their
    /// message, too.
    pub name: &'static str,
    /// It is a span; otherwise an event.
    pub is_span: bool,
    /// The level, such as `INFO`.
    pub level: &'static str,
    /// The target, such as `machine::store`.
    pub target: &'static str,
    /// When it happens.
    pub when: &'static str,
    /// The names of its fields. Those that do not apply have no value.
    pub fields: &'static [&'static str],
}

/// Makes [`Signal`]s, and a struct for each that emits exactly its fields.
macro_rules! signals {
    ($(
        #[doc = $when:literal]
        $kind:ident $signal:ident $(<$life:lifetime>)? = $name:literal, $target:ident, $level:ident {
            $( $member:ident: $type:ty => $field:ident, )*
        }
        $( fixed { $( $fixed:ident = $value:literal, )* } later { $( $later:ident, )* } )?
    )*) => {
        /// All spans and events of this library.
        pub static SIGNALS: &[Signal] = &[$(
            Signal {
                name: $name,
                is_span: signals!(@is_span $kind),
                level: stringify!($level),
                target: $target,
                when: $when.trim_ascii(),
                fields: &[
                    $( field::$field, )*
                    $( $( field::$fixed, )* $( field::$later, )* )?
                ],
            }
        ),*];

        $(
            #[doc = $when]
            #[derive(Debug)]
            pub(crate) struct $signal $(<$life>)? {
                $( pub(crate) $member: $type, )*
            }

            impl $(<$life>)? $signal $(<$life>)? {
                signals! {
                    @$kind $name, $target, $level,
                    [$( $field self_member $member, )*]
                    [$( $( $fixed = $value, )* )?]
                    [$( $( $later, )* )?]
                }
            }
        )*
    };
    (@is_span span) => { true };
    (@is_span event) => { false };
    (
        @event $name:literal, $target:ident, $level:ident,
        [$( $field:ident self_member $member:ident, )*] [] []
    ) => {
        pub(crate) fn emit(&self) {
            tracing::event!(
                name: $name,
                target: $target,
                tracing::Level::$level,
                $( { field::$field } = self.$member, )*
                $name
            );
        }
    };
    (
        @span $name:literal, $target:ident, $level:ident,
        [$( $field:ident self_member $member:ident, )*]
        [$( $fixed:ident = $value:literal, )*]
        [$( $later:ident, )*]
    ) => {
        pub(crate) fn span(&self) -> tracing::Span {
            tracing::span!(
                target: $target,
                tracing::Level::$level,
                $name,
                $( { field::$field } = self.$member, )*
                $( { field::$fixed } = $value, )*
                $( { field::$later } = tracing::field::Empty, )*
            )
        }
    };
}

pub(super) use signals;

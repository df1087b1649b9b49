//! Expansion of a line of the table to code.

/// Makes a struct for each span and event that emits exactly its fields.
macro_rules! signals {
    ($(
        $(#[doc = $when:literal])+
        $kind:ident $signal:ident $(<$life:lifetime>)? = $name:literal, $target:ident, $level:ident {
            $( $member:ident $(: $type:ty => $field:ident)? ),* $(,)?
        }
        $( fixed { $( $fixed:ident = $value:literal, )* } later { $( $later:ident, )* } )?
    )*) => {
        $(
            $(#[doc = $when])+
            #[derive(Debug)]
            pub(crate) struct $signal $(<$life>)? {
                $( pub(crate) $member: member!(type $member $($type)?), )*
            }

            impl $(<$life>)? $signal $(<$life>)? {
                signals! {
                    @$kind $name, $target, $level,
                    [$( $member $(=> $field)?, )*]
                    [$( $( $fixed = $value, )* )?]
                    [$( $( $later, )* )?]
                }
            }
        )*
    };
    (
        @event $name:literal, $target:ident, $level:ident,
        [$( $member:ident $(=> $field:ident)?, )*] [] []
    ) => {
        pub(crate) fn emit(&self) {
            tracing::event!(
                name: $name,
                target: $target,
                tracing::Level::$level,
                $( { member!(field $member $($field)?) } = self.$member, )*
                $name
            );
        }
    };
    (
        @span $name:literal, $target:ident, $level:ident,
        [$( $member:ident $(=> $field:ident)?, )*]
        [$( $fixed:ident = $value:literal, )*]
        [$( $later:ident, )*]
    ) => {
        pub(crate) fn span(&self) -> tracing::Span {
            tracing::span!(
                target: $target,
                tracing::Level::$level,
                $name,
                $( { member!(field $member $($field)?) } = self.$member, )*
                $( { field::$fixed } = $value, )*
                $( { field::$later } = tracing::field::Empty, )*
            )
        }
    };
}

/// The type and the field of a member. Those that mean the same in most signals are known by their
/// names.
macro_rules! member {
    (type $member:ident $type:ty) => { $type };
    (field $member:ident $field:ident) => { field::$field };
    (type kind) => { &'static str };
    (field kind) => { field::KIND };
    (type id) => { Displayed<Id> };
    (field id) => { field::ID };
    (type actor) => { Displayed<Category> };
    (field actor) => { field::ACTOR };
    (type version) => { u64 };
    (field version) => { field::VERSION };
    (type epoch) => { u64 };
    (field epoch) => { field::EPOCH };
    (type token) => { u64 };
    (field token) => { field::TOKEN };
    (type evidence) => { &'static str };
    (field evidence) => { field::EVIDENCE };
    (type error) => { &'static str };
    (field error) => { field::ERROR_TYPE };
    (type operation) => { &'static str };
    (field operation) => { field::OPERATION };
    (type status) => { Option<i32> };
    (field status) => { field::DB_STATUS };
    (type step) => { &'static str };
    (field step) => { field::STEP };
    (type attempt) => { u32 };
    (field attempt) => { field::ATTEMPT };
    (type messages) => { u64 };
    (field messages) => { field::MESSAGES };
    (type grace_ms) => { u64 };
    (field grace_ms) => { field::GRACE_MS };
}

pub(super) use {member, signals};

//! Views for an audience that is chosen at run time.

/// The audience of a view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "http", derive(serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "http", serde(rename_all = "lowercase"))]
pub(crate) enum Audience {
    /// People who use or approve what a machine does: no keys, no names of programs, no raw data.
    #[default]
    Human,
    /// Developers who find out what happened: also keys, timeouts, and who acted.
    Diagnostic,
    /// The program itself: everything that is stored.
    Internal,
}

/// Evaluates an expression with the type `$A` of an audience. Each arm has its own types, so the
/// expression must end in one that they share.
macro_rules! for_audience {
    ($audience:expr, $A:ident => $body:expr) => {
        match $audience {
            $crate::audience::Audience::Human => {
                type $A = machine::view::Human;
                $body
            }
            $crate::audience::Audience::Diagnostic => {
                type $A = machine::view::Diagnostic;
                $body
            }
            $crate::audience::Audience::Internal => {
                type $A = machine::view::Internal;
                $body
            }
        }
    };
}
pub(crate) use for_audience;

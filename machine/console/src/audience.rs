/// Who a view is for, chosen at run time.
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

/// Calls a method of `Observer`, or another function of an audience, and makes its answer a document.
/// What the audience may not see is not in it.
macro_rules! for_audience {
    ($audience:expr, $observer:expr, $method:ident($($argument:expr),*)) => {
        match $audience {
            $crate::audience::Audience::Human => {
                $observer.$method::<machine::view::Human>($($argument),*).await
                    .map(|view| serde_json::to_value(&view))
            }
            $crate::audience::Audience::Diagnostic => {
                $observer.$method::<machine::view::Diagnostic>($($argument),*).await
                    .map(|view| serde_json::to_value(&view))
            }
            $crate::audience::Audience::Internal => {
                $observer.$method::<machine::view::Internal>($($argument),*).await
                    .map(|view| serde_json::to_value(&view))
            }
        }
    };
}
pub(crate) use for_audience;

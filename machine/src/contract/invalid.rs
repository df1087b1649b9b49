use super::Action;

/// Why no contract was made. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidContract {
    /// The arguments are no JSON.
    #[error("the arguments are no JSON: {0}; pass an object such as {{\"to\": \"bob\"}}")]
    NotJson(#[source] serde_json::Error),
    /// The arguments are JSON, but no object.
    #[error("the arguments are {0}, not an object; pass one such as {{\"to\": \"bob\"}}")]
    NotAnObject(&'static str),
    /// The arguments are larger than [`Action::MAX_DETAIL_BYTES`].
    #[error(
        "the arguments have {bytes} bytes, more than {limit}; store the content elsewhere and pass \
         a reference to it",
        limit = Action::MAX_DETAIL_BYTES
    )]
    TooLarge {
        /// Their size as JSON text.
        bytes: usize,
    },
    /// The arguments are nested deeper than [`Action::MAX_DETAIL_DEPTH`].
    #[error(
        "the arguments are nested more than {limit} deep; flatten them",
        limit = Action::MAX_DETAIL_DEPTH
    )]
    TooDeep,
    /// A name or a question is empty.
    #[error("the {0} is empty; say which one is meant")]
    Empty(&'static str),
}

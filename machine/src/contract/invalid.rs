use super::Action;

/// Why a contract could not be made. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidContract {
    /// The arguments are not valid JSON.
    #[error("the arguments are not valid JSON: {0}; pass an object such as {{\"to\": \"bob\"}}")]
    NotJson(#[source] serde_json::Error),
    /// The arguments are JSON, but not an object.
    #[error("the arguments are {0}, not an object; pass an object such as {{\"to\": \"bob\"}}")]
    NotAnObject(&'static str),
    /// The arguments are larger than [`Action::MAX_DETAIL_BYTES`].
    #[error(
        "the arguments are {bytes} bytes long, the limit is {limit}; store the content elsewhere \
         and pass a reference to it",
        limit = Action::MAX_DETAIL_BYTES
    )]
    TooLarge {
        /// Their size as JSON text.
        bytes: usize,
    },
    /// The arguments are nested deeper than [`Action::MAX_DETAIL_DEPTH`].
    #[error(
        "the arguments are nested more than {limit} levels deep; flatten them",
        limit = Action::MAX_DETAIL_DEPTH
    )]
    TooDeep,
    /// A name or a question is empty.
    #[error("the {0} is empty; pass a non-empty {0}")]
    Empty(&'static str),
}

//! Pages of lists.

/// The readable items of a page, and the errors of the rest.
pub(crate) fn split<T, E: ToString>(items: Vec<Result<T, E>>) -> (Vec<T>, Vec<String>) {
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Ok(item) => read.push(item),
            Err(error) => errors.push(error.to_string()),
        }
    }
    (read, errors)
}

//! Pages of lists.

/// The readable items of a page, and the errors of the rest.
pub(crate) fn split<T, E>(items: Vec<Result<T, E>>) -> (Vec<T>, Vec<E>) {
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Ok(item) => read.push(item),
            Err(error) => errors.push(error),
        }
    }
    (read, errors)
}

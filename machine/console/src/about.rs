use machine::definition::Definition;

/// The first paragraph of the docs of a machine, in one line.
pub(crate) fn about(definition: &Definition) -> String {
    let lines = definition.docs.trim().lines().map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;

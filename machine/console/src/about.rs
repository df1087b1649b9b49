use machine::definition::Definition;

/// The first paragraph of the docs of a machine, in one line.
pub(crate) fn about(definition: &Definition) -> String {
    let lines = definition.docs.trim().lines().map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_whole_first_paragraph() {
        let of = |docs: &'static str| {
            let mut definition = machine::contract::execution::DEFINITION.clone();
            definition.docs = docs.into();
            about(&definition)
        };
        assert_eq!(of(" A parcel,\n on its way.\n\n More.\n"), "A parcel, on its way.");
        assert_eq!(of(""), "");
    }
}

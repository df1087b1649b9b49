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

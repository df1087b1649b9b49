//! The schema of a body whose fields depend on each other.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, OneOfBuilder, RefOr, Schema,
        schema::{AdditionalProperties, SchemaType, Type},
    },
};

use super::acts::Confirm;

/// The two forms of the body: it took effect, or it did not.
impl PartialSchema for Confirm {
    fn schema() -> RefOr<Schema> {
        let only = |value: bool| {
            ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([value]))
        };
        let text =
            || ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
        let nothing = || ObjectBuilder::new().schema_type(Type::Null);
        let body = || {
            let closed = Some(AdditionalProperties::FreeForm(false));
            ObjectBuilder::new().required("applied").additional_properties(closed)
        };
        let applied = body()
            .description(Some("It took effect."))
            .property("applied", only(true))
            .property("receipt", text().description(Some("The proof.")))
            .property("reason", nothing())
            .property("override", only(false));
        let not_applied = body()
            .description(Some("It did not take effect, and will not."))
            .property("applied", only(false))
            .property("reason", text().description(Some("The reason to believe so.")))
            .property("receipt", nothing())
            .property(
                "override",
                ObjectBuilder::new().schema_type(Type::Boolean).description(Some(
                    "Override although its worker may be alive: the person takes responsibility.",
                )),
            );
        OneOfBuilder::new()
            .description(Some("A person's finding about an action in doubt."))
            .item(applied)
            .item(not_applied)
            .into()
    }
}

impl ToSchema for Confirm {
    fn name() -> Cow<'static, str> {
        "Confirm".into()
    }
}

//! The schemas of types whose JSON is not that of their fields.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, ObjectBuilder, RefOr, Schema, SchemaFormat, schema::Type},
};

use crate::{id::Id, view::NextStep};

impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        let uuid = ObjectBuilder::new().schema_type(Type::String);
        uuid.format(Some(SchemaFormat::Custom("uuid".to_owned()))).into()
    }
}

impl ToSchema for Id {
    fn name() -> Cow<'static, str> {
        "Id".into()
    }
}

/// The step, with its command.
impl PartialSchema for NextStep {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new()
            .description(Some("What a person can do about a machine."))
            .property(
                "do",
                text().enum_values(Some([
                    "approve", "decline", "confirm", "retry", "cancel", "fence", "requeue",
                    "respond", "send", "show",
                ])),
            )
            .required("do")
            .property("id", Id::schema())
            .required("id")
            .property("trigger", text().description(Some("Of `send`: the trigger.")))
            .property(
                "payload",
                ArrayBuilder::new()
                    .items(text())
                    .description(Some("Of `send`: the names of what the trigger takes.")),
            )
            .property("command", text().description(Some("The same on the command line.")))
            .required("command")
            .into()
    }
}

impl ToSchema for NextStep {
    fn name() -> Cow<'static, str> {
        "NextStep".into()
    }
}

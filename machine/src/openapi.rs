//! The schemas of types whose JSON is not that of their fields.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, SchemaFormat, schema::Type},
};

use crate::{Id, observe::NextStep};

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

impl PartialSchema for NextStep {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new()
            .description(Some("What a person can do about a machine."))
            .property(
                "do",
                text().enum_values(Some([
                    "approve",
                    "decline",
                    "confirm",
                    "acknowledge",
                    "retry",
                    "cancel",
                    "fence",
                    "requeue",
                    "respond",
                    "send",
                    "show",
                ])),
            )
            .required("do")
            .property("id", Id::schema())
            .required("id")
            .property("trigger", text().description(Some("Of `send`: the trigger.")))
            .property(
                "payload",
                ArrayBuilder::new()
                    .items(Ref::from_schema_name("PayloadItem"))
                    .description(Some("Of `send`: what the trigger takes.")),
            )
            .property(
                "seen",
                ObjectBuilder::new().schema_type(Type::Integer).description(Some(
                    "Of `send` to a machine that waits: the number of its transitions, to be sent \
                     back.",
                )),
            )
            .property(
                "applied",
                ObjectBuilder::new()
                    .schema_type(Type::Boolean)
                    .description(Some("Of `confirm`: the action took effect.")),
            )
            .property(
                "receipt",
                text().description(Some(
                    "Of `confirm`: the type of the receipt that it needs, if a text will not do.",
                )),
            )
            .property(
                "messages",
                ArrayBuilder::new().items(text()).description(Some(
                    "Of `requeue`: the correlation ids of the messages that were set aside.",
                )),
            )
            .property(
                "command",
                text().description(Some(
                    "The same on the command line, without the program and its file.",
                )),
            )
            .required("command")
            .into()
    }
}

impl ToSchema for NextStep {
    fn name() -> Cow<'static, str> {
        "NextStep".into()
    }
}

//! M03xx: mistakes in a tool.

use std::fmt::Display;

use syn::Ident;

use super::{did_you_mean, list};

const EXAMPLE: &str = "write `#[tool(bank.charge, irreversible, receipt = Receipt, refusal = Declined)]`; the name and \
                       one of `irreversible`, `idempotent` and `answers_later` are required, and the other \
                       options are `timeout`, `settling_time`, `about`, `question`, `identity`, `added` and `crate`";

messages! {
    M0301 malformed_tool(problem: &impl Display)
        "cannot parse this tool: {problem}" => "{EXAMPLE}"

    M0301 tool_without_options(tool: &Ident)
        "`{tool}` does not say which tool it is" => "{EXAMPLE}"

    M0301 tool_without_a_name()
        "the tool has no name" => "{EXAMPLE}"

    M0301 tool_without_an_effect()
        "the tool does not say whether its calls can be undone" => "{EXAMPLE}"

    M0302 tool_not_a_struct(tool: &Ident)
        "`{tool}` is not a struct, so its arguments have no names"
        => "write a struct with a field for each argument"

    M0302 tool_with_unnamed_fields(tool: &Ident)
        "the arguments of `{tool}` have no names"
        => "name them, as in `struct {tool} {{ cents: u32 }}`, or write `struct {tool} {{}}` if there are none"

    M0303 identity_of_an_unknown_field(field: &Ident, tool: &Ident, fields: &[&Ident])
        let all = list(fields);
        let repair = did_you_mean(field, fields, format!("name fields of the tool, which has {all}"));
        "`{tool}` has no field `{field}`, so it cannot be part of the identity" => "{repair}"

    M0303 identity_with_a_field_twice(field: &Ident)
        "`{field}` is twice in the identity" => "remove one of them"

    M0303 tool_with_an_empty_identity(tool: &Ident)
        "the identity of `{tool}` is empty, so that all its calls would be one action"
        => "name the fields that say which action it is, as in `identity = order`, or remove `identity`: then all \
            arguments do"
}

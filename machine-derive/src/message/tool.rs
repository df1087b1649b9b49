//! M03xx: mistakes in a tool.

use std::fmt::Display;

use syn::Ident;

const EXAMPLE: &str = "write `#[tool(bank.charge, irreversible, receipt = Receipt, refusal = Declined)]`; the name and \
                       one of `irreversible`, `idempotent` and `answers_later` are required, and the other \
                       options are `timeout`, `settling_time`, `about`, `question`, `added` and `crate`";

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
}

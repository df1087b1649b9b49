// Tools whose arguments have no names. Structs are named after the mistakes.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

// M0302: a struct with unnamed fields.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, about = "cents")]
struct Unnamed(u32);

// M0302: a struct without fields is written with braces.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.audit, idempotent)]
struct WithoutBraces;

// M0302: no struct; its methods are known all the same.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, receipt = u32)]
enum Refund {
    Cents(u32),
}

fn main() {
    println!("{} {} {:?}", Unnamed::METHOD, WithoutBraces::METHOD, Refund::Cents(5).subject("en"));
}

// EX-5: a store gives each permit a fencing token, and no program can choose its own.

use machine::contract::{Action, Permit, Token};

fn newer(permit: &Permit<Action>) -> Token {
    let token = permit.token();
    Token { generation: token.generation(), sequence: token.sequence() + 1 }
}

fn main() {}

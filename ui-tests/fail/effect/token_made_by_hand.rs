// A store gives each permit a fencing token; a program cannot choose it.

use machine::contract::{Action, Permit, Token};

fn newer(permit: &Permit<Action>) -> Token {
    let token = permit.token();
    Token { generation: token.generation(), sequence: token.sequence() + 1 }
}

fn main() {}

// EX-7: data read from a disk are a claim. Only `verify` makes a machine from it.

use machine::contract::AnyExecution;
use machine::stored::Unverified;

fn carry_on(_machine: AnyExecution) {}

fn resume(claim: Unverified) {
    carry_on(claim);
}

fn main() {}

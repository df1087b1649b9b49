// Data from a disk is unverified. Only `verify` makes a machine of it.

use machine::contract::AnyExecution;
use machine::stored::Unverified;

fn carry_on(_machine: AnyExecution) {}

fn resume(claim: Unverified) {
    carry_on(claim);
}

fn main() {}

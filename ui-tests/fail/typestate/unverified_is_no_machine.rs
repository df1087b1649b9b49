// EX-7: what was read from a disk is a claim. Only `verify` makes a machine of it.

use machine::contract::AnyExecution;
use machine::erased::Unverified;

fn carry_on(_machine: AnyExecution) {}

fn resume(claim: Unverified) {
    carry_on(claim);
}

fn main() {}

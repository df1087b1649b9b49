// EX-5: a tool takes the permit by value, so it cannot be used twice.

use machine::contract::Permit;

fn send_email(_permit: Permit) {}

fn send_twice(permit: Permit) {
    send_email(permit);
    send_email(permit);
}

fn main() {}

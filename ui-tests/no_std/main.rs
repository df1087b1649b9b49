//! A machine in a program without `std` and without an allocator. Its exit code is 0 if the machine does what it should.

#![no_std]
#![no_main]

use core::{
    fmt::{self, Write},
    panic::PanicInfo,
};

use machine::{
    actor::{Actor, Category},
    machine,
};

#[link(name = "c")]
unsafe extern "C" {}

#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[derive(Debug)]
struct Owner;

impl Actor for Owner {
    const KIND: &'static str = "owner";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug)]
struct Visitor;

impl Actor for Visitor {
    const KIND: &'static str = "visitor";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug)]
struct TooShort;

impl fmt::Display for TooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the code is too short")
    }
}

fn is_long(_: &door::Closed, code: &u16) -> Result<(), TooShort> {
    if *code < 1000 { Err(TooShort) } else { Ok(()) }
}

#[machine]
#[derive(Debug)]
enum Door {
    #[initial]
    #[on(open => Open)]
    #[on(lock(code) => Locked, by = Owner, guard = is_long -> TooShort)]
    Closed,

    #[on(close => Closed)]
    Open,

    #[on(attempt(given: u16) => if given == code { Closed } else { Self })]
    #[on(unlock => Closed, by = Owner)]
    Locked { code: u16 },
}

/// Text of at most 200 bytes.
struct Line {
    bytes: [u8; 200],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let free = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn reads(shown: &impl fmt::Display, expected: &str) -> bool {
    let mut line = Line { bytes: [0; 200], length: 0 };
    write!(line, "{shown}").is_ok() && &line.bytes[..line.length] == expected.as_bytes()
}

fn is_right() -> Option<bool> {
    let refused = Door::new().lock(7, &Owner).err()?;
    let locked = refused.machine.lock(4321, &Owner).ok()?;
    let mut any = AnyDoor::from(locked);

    let illegal = any.apply_mut(door::Event::Open, &Owner).err()?;
    let words =
        "LOCKED cannot `open`; from LOCKED you can: attempt -> CLOSED or LOCKED, unlock -> CLOSED";
    let not_legal = reads(&illegal, words);
    let illegal = any.apply_mut(door::Event::Unlock, &Visitor).err()?;
    let not_allowed = reads(&illegal, "`visitor` may not `unlock` from LOCKED; these may: owner");

    any.apply_mut(door::Event::Attempt { given: 4321 }, &Visitor).ok()?;
    let illegal = any.apply_mut(door::Event::Lock { code: 7 }, &Owner).err()?;
    let guarded = reads(&illegal, "CLOSED cannot `lock` now: ..");
    let unknown = "ajar".parse::<door::Status>().err()?;
    let unknown =
        reads(&unknown, "`..` is not a state of `door`; the states are closed, open, locked");
    Some(not_legal && not_allowed && guarded && unknown && any.status() == door::Status::Closed)
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    i32::from(is_right() != Some(true))
}

// Write access to the journal needs a pass, which only the library can make.

use machine::contract::{Execution, execution::Running};
use machine::journal::{Journal, Pass};
use machine::stored::Durable;

fn open(running: &mut Execution<Running>) -> &mut Journal {
    running.__journal_mut(Pass(()))
}

fn main() {}

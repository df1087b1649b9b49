// EX-2: what a machine is in every state cannot be built, so that nobody gives it another journal.

use machine::contract::Contract;
use machine::journal::Journal;
use machine::stored::Core;

fn forge(journal: Journal, context: Contract) -> Core<Contract> {
    Core { journal, context }
}

fn main() {}

// The core of a machine cannot be built by other code, which would give it another journal.

use machine::contract::Contract;
use machine::journal::Journal;
use machine::stored::Core;

fn forge(journal: Journal, context: Contract) -> Core<Contract> {
    Core { journal, context }
}

fn main() {}

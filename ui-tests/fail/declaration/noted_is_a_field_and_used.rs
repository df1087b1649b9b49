// M0117: the name is ambiguous in the expression as well, which is not reported.

use machine::machine;

#[machine]
enum Account {
    #[initial]
    #[on(deposit(cents: u64, balance = balance + cents) => Open)]
    #[on(close => Closed)]
    Open { balance: u64, cents: u64 },

    #[terminal]
    Closed { balance: u64 },
}

fn main() {
    let open = Account::new(100, 7).deposit(5);
    assert_eq!(open.state().balance, 105);
    let _closed = open.close();
}

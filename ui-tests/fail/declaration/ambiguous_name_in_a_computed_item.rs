// M0120: in a computed item.

use machine::machine;

#[machine]
enum Account {
    #[initial]
    #[on(close(fee: u64, balance = balance - fee) => Closed)]
    Open { balance: u64, fee: u64 },

    #[terminal]
    Closed { balance: u64 },
}

fn main() {
    let closed = Account::new(100, 7).close(5);
    assert_eq!(closed.state().balance, 95);
}

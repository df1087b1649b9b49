// M0104: a generic machine with choices can be used as if the mistake were fixed.

use std::fmt::Debug;

use machine::machine;
use queue::{AfterFill, AfterInspect};

#[machine(on(inspect => if items.is_empty() { Empty } else { Self }, from = Used))]
#[derive(Debug)]
enum Queue<'a, T: Debug, const N: usize>
where
    T: Clone,
{
    #[initial]
    #[on(fill(items: Vec<T>) => match items.len() {
        0 => Empty,
        length if length < N => Partial(items),
        _ => Full(items),
    })]
    #[on(finish => Don)]
    Empty { label: &'a str },

    #[group(Used)]
    Partial { label: &'a str, items: Vec<T> },

    #[group(Used)]
    #[on(take(first = items[0].clone()) => Done)]
    Full { label: &'a str, items: Vec<T> },

    #[terminal]
    Done { first: T },
}

fn inspect<'a>(full: Queue<'a, queue::Full<'a, u8>, u8, 2>) -> AnyQueue<'a, u8, 2> {
    match full.inspect() {
        AfterInspect::Same(full) => full.take().into(),
        AfterInspect::Empty(empty) => empty.into(),
    }
}

fn main() {
    match Queue::<_, u8, 2>::new("numbers").fill(vec![1, 2]) {
        AfterFill::Empty(_empty) => {}
        AfterFill::Partial(partial) => assert_eq!(partial.state().items, [1]),
        AfterFill::Full(full) => drop(inspect(full)),
    }
}

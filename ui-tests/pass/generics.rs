//! Generic parameters of any kind and any name, including names that the macro uses itself.

use std::fmt::Debug;

use machine::machine;

/// A lifetime, types with bounds in both places, and a const parameter.
#[machine(context = &'a str)]
#[derive(Debug, Clone, PartialEq)]
enum Batch<'a, T: Debug, S, A, const N: usize>
where
    S: Clone,
    A: Default,
{
    #[initial]
    #[on(fill(items) => Full)]
    Empty,

    #[on(label(text, by: A) => Labelled)]
    #[on(swap(other: S, items) => Full)]
    Full { items: [T; N] },

    #[terminal]
    Labelled { items: [T; N], text: &'a str },
}

/// `S`, `T` and `A`: common names of generated parameters.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Letters<S, T, A> {
    #[initial]
    #[on(mix(t, a) => Both)]
    One { s: S },

    #[on(part => One)]
    Both { s: S, t: T, a: A },
}

/// A service for requests of one type.
trait Service<R> {
    type Response;

    fn serve(&self, request: R) -> Self::Response;
}

#[derive(Debug, Clone, PartialEq)]
struct Lengths {
    at_most: usize,
}

impl From<usize> for Lengths {
    fn from(at_most: usize) -> Self {
        Self { at_most }
    }
}

impl Service<String> for Lengths {
    type Response = usize;

    fn serve(&self, request: String) -> usize {
        request.len().min(self.at_most)
    }
}

/// Bounds that name other parameters, which no field mentions.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Call<S: Service<R> + From<Q> + Clone, R, Q>
where
    S::Response: Debug,
{
    #[initial]
    #[on(ask(request) => Asked)]
    Ready { service: S },

    #[on(answer(reply) => Done)]
    Asked { request: R },

    #[terminal]
    Done { reply: S::Response },
}

/// A bound that equates a parameter with an associated type, and a trait of a lifetime.
#[machine]
enum Lexer<'a, I, U, T>
where
    I: Iterator<Item = U> + AsRef<[T]>,
    T: Decode<'a>,
    I::Item: Clone,
{
    #[initial]
    #[on(start(tokens) => Reading)]
    Idle,

    #[on(read(last) => Read)]
    Reading { tokens: std::iter::Peekable<I> },

    #[on(decode(value) => Decoded)]
    Read { last: I::Item },

    #[terminal]
    Decoded { value: T::Out },
}

trait Decode<'a> {
    type Out;
}

impl<'a> Decode<'a> for u8 {
    type Out = &'a str;
}

#[test]
fn parameters_that_only_bounds_name() {
    let ready: Call<call::Ready<Lengths>, Lengths, String, usize> = Call::new(Lengths::from(9));
    let reply = ready.state().service.serve("four".to_owned());
    let done: Call<call::Done<Lengths, String>, _, _, _> =
        ready.ask("four".to_owned()).answer(reply);
    assert_eq!(done.state().reply, 4);

    let idle: Lexer<'_, lexer::Idle, std::vec::IntoIter<u8>, u8, u8> = Lexer::new();
    let reading: Lexer<'_, lexer::Reading<_, u8>, _, u8, u8> =
        idle.start(vec![1, 2].into_iter().peekable());
    let decoded = reading.read(1).decode("one");
    assert_eq!(decoded.state().value, "one");
    assert_eq!(AnyLexer::from(decoded).status(), lexer::Status::Decoded);
}

#[test]
fn runs() {
    let name = "books".to_owned();
    let empty: Batch<'_, batch::Empty, u8, String, (), 2> = Batch::new(name.as_str());
    let full = empty.fill([1, 2]);
    assert_eq!(*full.context(), "books");
    let full: Batch<'_, batch::Full<u8, 2>, u8, String, (), 2> = full.swap(String::new(), [3, 4]);
    assert_eq!(full.state(), &batch::Full { items: [3, 4] });

    // To the erased machine and back.
    let any: AnyBatch<'_, u8, String, (), 2> = full.into();
    assert_eq!(any.status(), batch::Status::Full);
    let any = any.apply(batch::Event::Fill { items: [5, 6] }).unwrap_err().machine;
    let AnyBatch::Full(full) = any else { panic!("it is full") };
    assert_eq!(full.state().items, [3, 4]);

    let both = Letters::new('s').mix(1_u8, "a");
    assert_eq!(both.state(), &letters::Both { s: 's', t: 1, a: "a" });
    let one: Letters<letters::One<char>, char, u8, &str> = both.part();
    let mut any = AnyLetters::from(one);
    any.apply_mut(letters::Event::Mix { t: 2, a: "b" }).unwrap();
    assert_eq!(any.status(), letters::Status::Both);

    // Parameters take no space.
    assert_eq!(
        size_of::<Letters<letters::One<u8>, u8, String, String>>(),
        size_of::<letters::One<u8>>()
    );
}

//!! A field may be called `source` or `status`; `source.source` names it.

use machine::machine;

#[machine]
#[derive(Debug)]
pub enum Query {
    #[initial]
    #[on(run(sum = source.source + source.status) => Done)]
    #[on(look => if source.source > 1 { Self } else { Done(sum = 0) })]
    Asked { source: u8, status: u8 },
    #[terminal]
    Done { sum: u8 },
}

#[test]
fn runs() {
    assert_eq!(Query::new(1, 2).run().state().sum, 3);
    let query::AfterLook::Asked(asked) = Query::new(2, 0).look() else { panic!() };
    let query::AfterLook::Done(done) = Query::new(0, 7).look() else { panic!() };
    assert_eq!((asked.state().source, done.state().sum), (2, 0));
}

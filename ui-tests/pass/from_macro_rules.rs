//!! Tokens that a `macro_rules` macro passes on keep their grouping: `$limit * 2` is `(1 + 2) * 2`.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};

macro_rules! meter {
    ($limit:expr, $open:expr, $bytes:ty) => {
        #[machine]
        #[derive(Debug)]
        pub enum Meter {
            #[initial]
            #[on(read(value: u64) => if value == $limit * 2 { Full } else { Self })]
            #[on(shut => if !$open { Full } else { Self })]
            #[on(double(count = $limit * 2) => Counted)]
            #[on(timeout => Full, by = GraphRunner, after = Duration::from_secs($limit * 2))]
            Counting { bytes: $bytes },
            #[terminal]
            Counted { count: u64, bytes: $bytes },
            #[terminal]
            Full,
        }
    };
}

meter!(1 + 2, false || true, [u8; 6]);

#[test]
fn runs() {
    let new = || Meter::new([0; 6]);
    assert!(matches!(new().read(6), meter::AfterRead::Full(_)));
    assert!(matches!(new().read(5), meter::AfterRead::Counting(_)));
    assert!(matches!(new().shut(), meter::AfterShut::Counting(_)));
    assert_eq!(new().deadlines().next().unwrap().after, Duration::from_secs(6));
    assert_eq!(new().double().state().count, 6);
}

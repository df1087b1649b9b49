//! A file with many machines. It is large with `MACHINE_LARGE_TESTS`.

use machine_tests::samples::{asked, pending_mail};

use crate::surfaces::{Order, Place, end};

#[tokio::test]
async fn a_large_file_is_listed_by_the_page() {
    let is_large = std::env::var_os("MACHINE_LARGE_TESTS").is_some();
    let count = if is_large { 100_000 } else { 1000 };
    let place = Place::new().await;
    let mut made = 0;
    while made < count {
        let mut orders: Vec<_> = (0..250).map(|_| Order::new()).collect();
        let mut questions: Vec<_> = (0..100).map(|_| asked("Deploy?")).collect();
        let mut mails: Vec<_> =
            (0..150).map(|at| pending_mail(&format!("{}@example.com", made + at))).collect();
        let batch = orders.iter_mut().fold(place.store.batch(), |batch, it| batch.create(it));
        let batch = questions.iter_mut().fold(batch, |batch, it| batch.create(it));
        let batch = mails.iter_mut().fold(batch, |batch, it| batch.create(it));
        batch.write().await.unwrap();
        made += 500;
    }
    let doubt = place.doubt("bob@example.com").await;
    for arguments in [
        &["list"][..],
        &["list", "--attention-only"],
        &["list", "--status", "pending", "--limit", "100"],
        &["show", &end(doubt)],
        &["topology"],
    ] {
        let ran = place.run(arguments);
        let printed = ran.done();
        // A page, and not all of them.
        assert!(printed.lines().count() < 1000, "{arguments:?} printed {printed}");
    }
}

//! `#[derive(Tool)]` is the trait, written shorter.

use std::time::Duration;

use machine::contract::{Effect, EffectType, Tool};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(
    bank.charge, irreversible, receipt = u64, refusal = Declined, timeout = Duration::from_secs(5),
    settling_time = Duration::ZERO, about = "{to}: {cents}", question = "Pay {to}?",
    identity = to, added = ["note", "to.city"]
)]
struct Charge {
    to: String,
    cents: u32,
}

#[derive(Debug, Serialize, Deserialize)]
enum Declined {
    Limit,
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("over the limit")
    }
}

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(files.r#type, idempotent, timeout = None, identity = [r#type, path,], crate = ::machine)]
struct Read<T: Send + Sync + Serialize + for<'a> Deserialize<'a> + 'static> {
    #[serde(bound = "")]
    path: T,
    r#type: u8,
}

#[test]
fn runs() {
    assert_eq!((Charge::SERVICE, Charge::METHOD), ("bank", "charge"));
    assert_eq!(<Charge as Tool>::Effect::EFFECT, Effect::Irreversible);
    let receipt: <Charge as Tool>::Receipt = 17;
    let refusal: <Charge as Tool>::Refusal = Declined::Limit;
    assert_eq!((receipt, refusal.to_string().as_str()), (17, "over the limit"));
    assert_eq!(
        (Charge::TIMEOUT, Charge::SETTLING_TIME),
        (Some(Duration::from_secs(5)), Duration::ZERO)
    );
    assert_eq!(Charge::ADDED, ["note", "to.city"]);
    let charge = Charge { to: "ann".to_owned(), cents: 5 };
    assert_eq!(charge.subject("").as_deref(), Some("ann: 5"));
    assert_eq!(charge.question("").as_deref(), Some("Pay ann?"));
    assert_eq!(charge.identity().map(|it| it.to_string()).as_deref(), Some(r#"["ann"]"#));

    type Path = Read<String>;
    assert_eq!((Path::SERVICE, Path::METHOD, Path::TIMEOUT), ("files", "type", None));
    assert_eq!(<Path as Tool>::Effect::EFFECT, Effect::Idempotent);
    assert!(Path::ADDED.is_empty());
    let receipt: <Path as Tool>::Receipt = String::new();
    let read = Path { path: receipt, r#type: 5 };
    assert_eq!(read.identity().map(|it| it.to_string()).as_deref(), Some(r#"[5,""]"#));
    assert_eq!((read.subject(""), read.question("")), (None, None));
}

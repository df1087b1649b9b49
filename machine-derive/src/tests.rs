//! Snapshots of the expansion of six machines. The expansion is deterministic.
//!
//! Users read expanded code, so review a changed snapshot like an API change, then accept it with
//! `INSTA_UPDATE=always cargo test --workspace`.

use quote::ToTokens;

use crate::expand;

/// Expands a declaration 20 times; all expansions must be identical, byte for byte.
#[track_caller]
fn expanded(options: &str, declaration: &str) -> String {
    let expand = || {
        let parsed = (options.parse(), declaration.parse());
        let (Ok(options), Ok(item)) = parsed else { panic!("no tokens: {declaration}") };
        expand::machine(options, item).to_string()
    };
    let first = expand();
    for _ in 1..20 {
        assert_eq!(expand(), first, "the expansion changes from build to build");
    }
    match syn::parse_file(&first) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("the expansion is not valid Rust: {error}\n{first}"),
    }
}

macro_rules! snapshot {
    ($name:ident, $options:literal, $declaration:literal) => {
        #[test]
        fn $name() {
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(stringify!($name), expanded($options, $declaration));
            });
        }
    };
}

snapshot!(
    payloads,
    "",
    "#[derive(Debug, Clone)]
     enum Lock {
         #[initial] #[on(lock(code, failures = 0) => Locked)] Open,
         #[on(try_code(failures = failures + 1) => Locked)]
         #[on(unlock(by_whom: String) => Open)]
         Locked { code: u32, failures: u32 },
     }"
);

snapshot!(
    actors_and_guards,
    "context = u64",
    "pub(crate) enum Order {
         #[initial] #[on(pay(amount) => Paid, by = Clerk | Owner, guard = within_limit -> OverLimit)]
         Open,
         #[terminal] Paid { amount: u64 },
     }"
);

snapshot!(
    groups_and_proofs,
    "on(stop(reason) => Stopped, from = Active)",
    "enum Turn {
         #[initial] #[on(run => Running)] Idle,
         #[group(Active)] #[on(wait => Waiting)] Running,
         #[group(Active)] #[stable] #[only_after(Running)] #[on(resume => Running)] Waiting,
         #[terminal] Stopped { reason: String },
     }"
);

snapshot!(
    generic,
    "",
    "pub enum Slot<'a, S, const N: usize> where S: Clone {
         #[initial] #[on(fill(content) => Full)] Empty,
         #[terminal] Full { content: [&'a S; N] },
     }"
);

snapshot!(
    durable,
    "durable, context = Order, crate = crate::library",
    "/// A shipment.
     #[derive(Debug, Serialize, Deserialize)]
     pub enum Shipment {
         #[initial] #[on(ship(parcel) => Shipped, by = Clerk)] Packed,
         #[terminal] Shipped { parcel: u64 },
     }"
);

/// The items of the machine's module, each as text.
fn items(options: &str, declaration: &str) -> Vec<String> {
    let Ok(file) = syn::parse_file(&expanded(options, declaration)) else { unreachable!() };
    let of_modules = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(module) => module.content,
        _ => None,
    });
    let items = of_modules.flat_map(|(_, items)| items);
    items.map(|item| item.to_token_stream().to_string()).collect()
}

/// Shared fields add items for themselves, and change none: a machine without them has no trace of
/// them.
#[test]
fn shared_fields_only_add_items() {
    let declaration = |fields: &str| {
        format!(
            "#[derive(Debug)]
             enum Flow {{
                 #[initial] #[on(start(goal) => Busy)] Idle,
                 #[on(rename(goal) => Self)] #[on(finish => Done)] Busy {fields},
                 #[terminal] Done {fields},
             }}"
        )
    };
    let shared = items("fields(goal: String, in = Busy | Done)", &declaration(""));
    let written = items("", &declaration("{ goal: String }"));
    let (kept, added): (Vec<_>, Vec<_>) =
        shared.into_iter().partition(|item| written.contains(item));
    assert_eq!(kept, written);
    // The seal, the trait, two states that have the field, and the methods of the two forms.
    assert_eq!(added.len(), 6, "{added:#?}");
    assert!(
        added.iter().all(|item| item.contains("__fields") || item.contains("goal")),
        "{added:#?}"
    );
}

#[test]
fn docs_between_attributes_are_those_of_the_transition_below() {
    let declaration = "enum Door {
             /// Shut.
             #[initial]
             /// Opens it.
             #[on(open => Open)]
             Closed,
             #[on(close => Closed)]
             /// Wide.
             #[stable]
             Open,
         }";
    let items = items("", declaration);
    let with = |text: &str| items.iter().filter(|item| item.contains(text)).collect::<Vec<_>>();
    let [definition, method] = with("Opens it.")[..] else { panic!("{items:#?}") };
    assert!(definition.contains("const DEFINITION"), "{definition}");
    assert!(method.contains("pub fn open"), "{method}");
    for of_the_state in ["Shut.", "Wide."] {
        assert!(with(of_the_state).iter().any(|item| item.contains("pub struct")), "{items:#?}");
    }
}

snapshot!(
    invoking,
    "durable",
    "#[derive(Debug, Serialize, Deserialize)]
     enum Order {
         #[initial] #[on(place(charge) => Paying, by = Human)] Cart,
         #[invoke(charge, within = LIMIT, done = paid, failed = refused)]
         #[on(paid(receipt) => Paid)] #[on(refused(why) => Unpaid)]
         Paying { charge: Charge },
         #[terminal] Paid { receipt: String },
         #[terminal] Unpaid { why: CallError },
     }"
);

//! The texts of types and conditions in a definition are the usual ones, whatever the layout of the
//! source.

const LIMIT: u8 = 3;

/// Declares a machine in its own module. Nothing formats what is in here.
macro_rules! texts {
    ($module:ident { $($fields:tt)* } $($on:tt)*) => {
        mod $module {
            #![allow(clippy::all, dead_code, reason = "the machine is declared, not used")]

            pub(super) enum Answer {
                Yes(u8),
                Other { scope: u8, limit: u8 },
            }

            #[machine::machine]
            pub(super) enum Texts {
                #[initial]
                $($on)*
                Only { $($fields)* },
                #[terminal]
                End,
            }
        }
    };
}

texts!(usual {
    a: Vec<Vec<String>>,
    b: &'static mut [u8; 4],
    c: fn(u8, &str) -> Option<u8>,
    d: Box<dyn Fn(u8) -> u8 + Send + 'static>,
    e: std::collections::BTreeMap<String, (u8, u16)>,
    f: <Vec<u8> as IntoIterator>::Item,
    g: for<'a> fn(&'a str),
    h: *const u8,
    i: super::super::order::Cook,
    j: (u8, ),
}
    #[on(j(n: u8) => if n < 3 { End } else { Self })]
    #[on(k(n: u8, yes: bool) => if n + 1 >= super::LIMIT && !yes { End } else { Self })]
    #[on(l(answer: Answer) => match answer {
        Answer::Other { scope, .. } if scope > 1 => End,
        Answer::Yes(0..=2) => End,
        Answer::Yes(_) | Answer::Other { .. } => Self,
    })]
    #[on(m(text: String) => if text.parse::<u32>().is_ok() { End } else { Self })]
    #[on(n(queue: Vec<u8>) => if let Some(next) = queue.first() { End } else { Self })]
    #[on(o(x: i8, y: i8) => if -x < &y * 2 { End } else { Self })]
    #[on(p(name: String) => if name == "a b" { End } else { Self })]
    #[on(q(x: bool, y: bool) => if (x || y) && (y || x) { End } else { Self })]
);

texts!(unusual {
    a: Vec < Vec < String > >,
    b: & 'static mut [ u8 ;4 ],
    c: fn ( u8 ,&str )->Option<u8,>,
    d: Box<dyn Fn(u8)->u8+Send+'static>,
    e: std :: collections::BTreeMap<
        String,
        (u8, u16,),
    >,
    f: < Vec<r#u8> as IntoIterator > :: Item,
    g: for < 'a > fn(& 'a str),
    h: * const u8,
    i: super :: super :: order :: Cook,
    j: (u8,),
}
    #[on(j(n: u8)=>if n<3{End}else{Self})]
    #[on(k(n: u8, yes: bool) => if (n+1>=super::LIMIT&&!yes) { End } else { Self })]
    #[on(l(answer: Answer) => match answer {
        Answer::Other{scope,..} if (scope>1) => End,
        Answer :: Yes(0 ..= 2) => End,
        Answer::Yes(_)|Answer::Other{..} => Self,
    })]
    #[on(m(text: String) => if text . parse :: < u32 > () . is_ok() { End } else { Self })]
    #[on(n(queue: Vec<u8>) => if let Some( next )=queue.first() { End } else { Self })]
    #[on(o(x: i8, y: i8) => if -x<&y*2 { End } else { Self })]
    #[on(p(name: String) => if name=="a b" { End } else { Self })]
    #[on(q(x: bool, y: bool) => if (x||y)&&(y||x) { End } else { Self })]
);

#[test]
fn the_layout_of_the_source_does_not_matter() {
    for definition in [usual::texts::DEFINITION, unusual::texts::DEFINITION] {
        let only = &definition.states[0];
        let types: Vec<&str> = only.fields.iter().map(|field| &*field.ty).collect();
        assert_eq!(
            types,
            [
                "Vec<Vec<String>>",
                "&'static mut [u8; 4]",
                "fn(u8, &str) -> Option<u8>",
                "Box<dyn Fn(u8) -> u8 + Send + 'static>",
                "std::collections::BTreeMap<String, (u8, u16)>",
                "<Vec<u8> as IntoIterator>::Item",
                "for<'a> fn(&'a str)",
                "*const u8",
                "super::super::order::Cook",
                // A tuple of one item is not the item.
                "(u8, )",
            ]
        );
        let conditions = definition.edges.iter().filter_map(|edge| edge.when.as_deref());
        let conditions: Vec<&str> = conditions.filter(|when| *when != "else").collect();
        let expected = [
            "n < 3",
            "n + 1 >= super::LIMIT && !yes",
            "answer is Answer::Other { scope, .. } and scope > 1 or answer is Answer::Yes(0..=2)",
            "answer is Answer::Yes(_) | Answer::Other { .. }",
            "text.parse::<u32>().is_ok()",
            "queue.first() is Some(next)",
            "-x < &y * 2",
            "name == \"a b\"",
            "(x || y) && (y || x)",
        ];
        assert_eq!(conditions, expected);
    }
    assert_eq!(usual::texts::DEFINITION.fingerprint, unusual::texts::DEFINITION.fingerprint);
}

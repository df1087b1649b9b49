//! A secret in a set is not in an error, whatever the order in which the set is written.

use machine::contract::{Contract, InvalidContract, Irreversible, Planned, Secret, ToolSpec};
use machine_tests::{actors::reasoning_node, assert_err, tool};
use serde::{Deserialize, Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Part {
    Token { token: Secret<String> },
    Note { note: String },
}

/// It is written in another order than it was read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Turned(Vec<Part>);

impl Serialize for Turned {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().rev())
    }
}

tool!(Publish { parts: Turned } = "site", "publish", Irreversible);

/// The tool that planned the call does not mark the token.
#[test]
fn a_secret_that_only_the_reader_marks_is_not_in_the_error() {
    let spec = ToolSpec::irreversible("site", "publish").unwrap();
    for arguments in [
        r#"{"parts": [{"token": "hush"}, {"note": "a"}]}"#,
        r#"{"parts": [{"note": "a"}, {"note": "b"}, {"token": "hush"}]}"#,
    ] {
        let contract = Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
        let refused = Planned::<Publish>::new(contract).map(drop);
        assert_err!(refused, InvalidContract::OtherArguments { .. });
        let text = format!("{refused:?} {}", refused.as_ref().unwrap_err());
        assert!(!text.contains("hush"), "{text}");
    }
}

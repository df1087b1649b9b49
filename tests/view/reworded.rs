//! A model that repeats a call in doubt in other words.

use machine::contract::without_arguments;

use crate::view::prelude::*;

/// Its key differs, so only people and the model itself can see that it is the same action.
#[tokio::test]
async fn a_repetition_in_other_words_is_pointed_out() {
    let store = Store::memory();
    let observer = Observer::new(&store);
    let (_, planned) = approved(&store, mail("bob").session("s")).await;
    let by = planned.id();
    drop(performed(&store, planned, unknown("connection lost")).await);

    let (gate, _planned) = ask(&store, mail("Bob <bob>").session("s")).await;
    let caution = observer.caution(&gate).await.unwrap().unwrap();
    let start = format!("{by} called the same tool in the same session and is in doubt");
    assert!(caution.starts_with(&start), "{caution}");
    assert!(caution.contains("\nto: \"bob\"\n"), "{caution}");
    // Without a token, its arguments are withheld.
    assert_eq!(without_arguments(&caution, Language::English), caution.lines().next());

    let attention = observer.attention::<Human>(&Query::new()).await.unwrap();
    let concern = attention.concerns.iter().find(|it| it.id == Some(gate.id())).unwrap();
    assert_eq!(concern.cause.as_ref(), Some(&caution));
    let found = observer.consequences("s").await.unwrap();
    let prompt = found.prompt().to_string();
    let named = "Do not repeat them, not even in other words:\n\nemail.send {\"to\":\"bob\"}\n\n";
    assert!(prompt.contains(named), "{prompt}");

    let read = ToolSpec::irreversible("files", "delete").unwrap();
    let delete = Contract::tool_call(&read, "{}", reasoning_node()).unwrap();
    for other in [mail("eve").session("t"), mail("carl"), delete.session("s")] {
        let (gate, _planned) = ask(&store, other).await;
        assert_eq!(observer.caution(&gate).await.unwrap(), None);
    }
    let doubt = store.in_doubt(by).await.unwrap();
    drop(store.confirm_applied(doubt, "I saw it", ann()).await.unwrap());
    assert_eq!(observer.caution(&gate).await.unwrap(), None);
    let found = observer.consequences("s").await.unwrap();
    assert!(!found.prompt().to_string().contains("in other words"));
}

#[tokio::test]
async fn secrets_of_a_call_in_doubt_are_digests() {
    let store = Store::memory();
    let tool = ToolSpec::irreversible("accounts", "reset").unwrap().secret("password");
    let reset = |user: &str| {
        let arguments = json!({ "user": user, "password": "s3cr3t" }).to_string();
        Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap().session("s")
    };
    let (_, planned) = approved(&store, reset("bob")).await;
    drop(performed(&store, planned, unknown("connection lost")).await);
    let (gate, _planned) = ask(&store, reset("Bob")).await;
    for language in Language::ALL {
        let observer = Observer::new(&store).language(language);
        let caution = observer.caution(&gate).await.unwrap().unwrap();
        let found = observer.consequences("s").await.unwrap();
        for text in [caution, Prompt { language, ..found.prompt() }.to_string()] {
            assert!(text.contains("blake3:") && !text.contains("s3cr3t"), "{text}");
        }
    }
}

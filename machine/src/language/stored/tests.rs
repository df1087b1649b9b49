use super::*;

#[test]
fn only_the_texts_of_the_library_are_translated() {
    let chinese = |text: &str| Language::Chinese.stored(text).into_owned();
    assert_eq!(chinese("not answered in time"), "无人在规定时间内答复");
    assert_eq!(chinese("not approved: declined"), "未获批准：已拒绝");
    assert_eq!(chinese("not approved: wrong address"), "未获批准：wrong address");
    assert_eq!(chinese("SMTP connection refused"), "SMTP connection refused");
    assert_eq!(Language::English.stored("not approved: declined"), "not approved: declined");
}

/// Every text has the places of the English one, and no Latin words: names and commands are in
/// backticks.
#[test]
fn the_chinese_table_is_complete() {
    let places = |text: &str| {
        let mut names: Vec<String> = text
            .split('{')
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()))
            .collect();
        names.sort();
        names
    };
    for phrase in Phrase::ALL {
        let (english, chinese) = (phrase.english(), phrase.chinese());
        assert_eq!(places(english), places(chinese), "{phrase:?}");
        let mut bare = chinese.replace("⚠️ IRREVERSIBLE", "");
        for (open, close) in [('{', '}'), ('`', '`')] {
            while let Some(start) = bare.find(open) {
                let Some(end) = bare[start + 1..].find(close) else { break };
                bare.replace_range(start..=start + 1 + end, "");
            }
        }
        assert!(!bare.chars().any(|one| one.is_ascii_alphabetic()), "{phrase:?}: {chinese}");
        assert!(!bare.is_ascii(), "{phrase:?}: {chinese}");
    }
}

/// The macro stores this one.
#[test]
fn the_reason_of_a_timeout_is_known() {
    let source = include_str!("../../contract/execution_machine.rs");
    assert!(source.contains(&format!("{:?}.to_owned()", Phrase::NobodyAnswered.english())));
}

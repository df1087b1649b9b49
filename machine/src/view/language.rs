use std::{fmt, str::FromStr};

use serde::Serialize;

/// The language of the sentences in a view. Labels and names are the same in every language, so that a
/// program can rely on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The code by which tools know it, such as `zh`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The sentence in this language.
    pub(super) fn say(self, sentence: &Sentence<'_>) -> String {
        use Sentence as S;
        let (english, chinese) = match sentence {
            S::Unknown => {
                ("nobody knows whether it took place".into(), "不确定该操作是否已经执行".into())
            }
            S::AwaitsReport => (
                "its service has accepted it, and has not reported yet".into(),
                "其服务已受理，尚未报告结果".into(),
            ),
            S::TookPlace(receipt) => {
                (format!("it took place: {receipt}"), format!("该操作已经执行：{receipt}"))
            }
            S::TookPlacePerhapsMore(receipt) => (
                format!("it took place, perhaps more than once: {receipt}"),
                format!("该操作已经执行，可能不止一次：{receipt}"),
            ),
            S::ReceiptArrived => ("a receipt arrived".into(), "收到了回执".into()),
            S::RecordedAsNotDone(reason) => (
                format!("recorded before as not done: {reason}"),
                format!("此前记录为未执行：{reason}"),
            ),
            S::Overridden(reason) => (
                format!(
                    "a person declared it not done before that could be known, and it may still take \
                     place: {reason}"
                ),
                format!("有人在结果尚不可知时将其判定为未执行，它仍有可能发生：{reason}"),
            ),
            S::WorkerDenies(reason) => (
                format!("its worker or its service says that it did not take place: {reason}"),
                format!("其执行者或服务称该操作并未执行：{reason}"),
            ),
            S::Unconfirmed(text) => (
                format!("no store has recorded this: {text}"),
                format!("没有存储记录此结果：{text}"),
            ),
            S::IrreversibleNote => (
                "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be taken back."
                    .into(),
                "注意：标记为 ⚠️ IRREVERSIBLE 的操作已经生效，无法撤回。".into(),
            ),
            S::Omitted(count) => (
                format!("({count} more executions are not shown)"),
                format!("（另有 {count} 个执行未显示）"),
            ),
            S::Unreadable(count) => (
                format!(
                    "(executions that cannot be read: {count}; whether they took effect is unknown, so \
                     their actions must not be repeated)"
                ),
                format!("（无法读取的执行：{count} 个；不确定是否已经生效，请勿重复其操作）"),
            ),
        };
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

/// A sentence of a view, with what it is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sentence<'a> {
    Unknown,
    AwaitsReport,
    TookPlace(&'a str),
    TookPlacePerhapsMore(&'a str),
    ReceiptArrived,
    RecordedAsNotDone(&'a str),
    Overridden(&'a str),
    WorkerDenies(&'a str),
    Unconfirmed(&'a str),
    IrreversibleNote,
    Omitted(usize),
    Unreadable(usize),
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// The text is not the code of a language.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language; use `en` or `zh`")]
#[non_exhaustive]
pub struct UnknownLanguage;

/// Reads a code such as `zh`, also with a region: `zh-CN`.
impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let code = text.split(['-', '_']).next().unwrap_or_default();
        let mut languages = Self::ALL.into_iter();
        languages.find(|known| code.eq_ignore_ascii_case(known.code())).ok_or(UnknownLanguage)
    }
}

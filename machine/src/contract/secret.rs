//! Arguments that are not for every eye: the file has them, and views show their digests.

use std::{
    borrow::Cow,
    cell::Cell,
    fmt::{self, Write},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value};

use crate::journal::{Digest, canonical_whole};

/// An argument of a [`Tool`](trait@super::Tool) that people and models must not read, such as a
/// password. The call gets the value; every view, question and prompt shows its digest instead,
/// such as `blake3:5f2a9c01…`, and so does `Debug`. An approval is for the value itself: a changed
/// value is not approved.
///
/// The file and the output of `export` contain the value itself. Anyone who guesses a value can
/// compare its digest, so the digest protects long random secrets better than short ones.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Secret, Tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, Tool)]
/// #[tool(accounts.set_password, irreversible)]
/// struct SetPassword {
///     user: String,
///     password: Secret<String>,
/// }
///
/// let actors = Actors::issue("assistant")?;
/// let call = SetPassword { user: "bob".to_owned(), password: Secret::new("s3cr3t".to_owned()) };
/// assert_eq!(call.password.expose(), "s3cr3t");
/// let contract = Contract::of(&call, &actors.reasoning_node)?;
/// let (gate, _) = contract.ask::<SetPassword>(None, &actors.ecs_node)?;
/// assert!(gate.question().contains("password: \"blake3:"));
/// assert!(!gate.question().contains("s3cr3t"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Marks a value as secret.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the call.
    pub const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

thread_local! {
    /// Secrets are written as marks, so that their places can be found.
    static MARKING: Cell<bool> = const { Cell::new(false) };
}

/// The placeholder for a secret while the places of secrets are searched for.
const MARK: &str = "\u{0}machine: secret\u{0}";

/// The value as it is.
impl<T: Serialize> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if MARKING.get() { serializer.serialize_str(MARK) } else { self.0.serialize(serializer) }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error of the value would quote it.
        T::deserialize(deserializer)
            .map(Self)
            .map_err(|_| D::Error::custom("a secret argument no longer has its declared type"))
    }
}

/// The schema of the value, marked as one that is only written.
#[cfg(feature = "tools")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Secret<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("Secret_of_{}", T::schema_name()))
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = T::json_schema(generator);
        schema.insert("writeOnly".to_owned(), Value::Bool(true));
        schema
    }
}

/// The places of the secrets in the arguments of a tool, as JSON pointers.
///
/// # Errors
///
/// If a secret is in a place that cannot be named, such as the name of a map's entry.
pub(super) fn places(
    tool: &impl Serialize,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>, String> {
    struct Marking;
    impl Drop for Marking {
        fn drop(&mut self) {
            MARKING.set(false);
        }
    }
    let marked = {
        MARKING.set(true);
        // Also if the user's `Serialize` panics.
        let _marking = Marking;
        serde_json::to_value(tool).map_err(|error| error.to_string())?
    };
    let mut places = Vec::new();
    collect(&marked, &mut String::new(), &mut places);
    if places.iter().any(|place| at(arguments, place).is_none()) || has_marked_name(&marked) {
        return Err(
            "a secret is a map key or is not serialized as a separate value; make it the value \
                    of a field"
                .to_owned(),
        );
    }
    Ok(places)
}

fn collect(value: &Value, place: &mut String, places: &mut Vec<String>) {
    let length = place.len();
    match value {
        Value::String(text) if text == MARK => places.push(place.clone()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let _ = write!(place, "/{number}");
                collect(item, place, places);
                place.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                place.push_str(&pointer(name));
                collect(member, place, places);
                place.truncate(length);
            }
        }
        _ => {}
    }
}

fn has_marked_name(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_marked_name),
        Value::Object(members) => {
            members.iter().any(|(name, member)| name == MARK || has_marked_name(member))
        }
        _ => false,
    }
}

pub(super) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn split(place: &str) -> Option<(String, &str)> {
    let rest = place.strip_prefix('/')?;
    let (name, inner) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Some((name.replace("~1", "/").replace("~0", "~"), inner))
}

fn at<'a>(arguments: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    let (name, inner) = split(place)?;
    arguments.get(&name)?.pointer(inner)
}

fn digest(value: &Value) -> String {
    let digest = Digest::of(&[b"secret", canonical_whole(value).as_bytes()]).to_string();
    format!("blake3:{}…", &digest[..8])
}

pub(super) fn with_digests<'a>(
    arguments: &'a Map<String, Value>,
    secrets: &[impl AsRef<str>],
) -> Cow<'a, Map<String, Value>> {
    if secrets.is_empty() {
        return Cow::Borrowed(arguments);
    }
    let mut shown = arguments.clone();
    for place in secrets {
        let Some((name, inner)) = split(place.as_ref()) else { continue };
        if let Some(value) = shown.get_mut(&name).and_then(|value| value.pointer_mut(inner)) {
            *value = Value::String(digest(value));
        }
    }
    Cow::Owned(shown)
}

/// Puts digests in the places of the secrets of a stored detail. An identity may repeat them.
pub(super) fn hide(detail: &mut Map<String, Value>) {
    let Some(Value::Array(secrets)) = detail.get("secrets") else { return };
    let secrets: Vec<String> =
        secrets.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if let Some(Value::Object(arguments)) = detail.get_mut("args") {
        *arguments = with_digests(arguments, &secrets).into_owned();
    }
    if let Some(identity) = detail.get_mut("identity") {
        *identity = Value::String(digest(identity));
    }
}

/// Puts digests in the places of the secrets of a stored contract.
pub(crate) fn hide_in_contract(contract: &mut Value) {
    if let Some(Value::Object(detail)) = contract.pointer_mut("/action/action_detail") {
        hide(detail);
    }
}

/// Checks the places of a stored action.
pub(super) fn check(secrets: &Value, arguments: &Map<String, Value>) -> Result<(), &'static str> {
    let Value::Array(places) = secrets else { return Err("its `secrets` are not a list") };
    let is_place = |place: &Value| place.as_str().is_some_and(|it| at(arguments, it).is_some());
    if places.is_empty() || !places.iter().all(is_place) {
        return Err("its `secrets` name a path that is missing from its arguments");
    }
    Ok(())
}

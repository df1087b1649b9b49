//! The tools of the example: an office that is a folder. Each irreversible effect is a line in a file, so
//! that everyone can see how often it happened.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use machine::contract::{
    Action, Answer, Applied, Attempt, Call, InvalidContract, NotDone, ToolSpec,
};
use serde_json::{Map, Value, json};

use crate::{
    plan::ProposedCall,
    tools::{ToolError, Tools},
};

/// The time that a service takes to answer.
const ANSWER: Duration = Duration::from_millis(50);

/// The irreversible tools, and the file that each of them writes.
pub const WRITERS: [(&str, &str, &str); 4] = [
    ("bank", "pay", "bank.txt"),
    ("mail", "send", "mails.txt"),
    ("site", "publish", "site.txt"),
    ("files", "delete", "deleted.txt"),
];

/// The tools for this folder.
///
/// # Errors
///
/// [`InvalidContract`] if a schema is not one.
pub fn tools(folder: &Path) -> Result<Tools, InvalidContract> {
    let mut tools = Tools::new(policy);
    let reader = folder.to_owned();
    let spec = ToolSpec::idempotent("files", "read")?.template("", "{path}");
    tools.add(spec.schema(arguments(&["path"])), move |call| {
        let answer = read(&reader, text(call, "path"));
        Box::pin(async move { answer })
    })?;
    for (service, method, file) in WRITERS {
        // A line that was written to a file is there at once.
        let spec = ToolSpec::irreversible(service, method)?.settling_time(Duration::ZERO);
        let (spec, names): (_, &[_]) = match service {
            "bank" => (spec.template("", "{to}: {amount}"), &["to", "amount"]),
            "mail" => (spec.template("", "{to}"), &["to", "text"]),
            "site" => (spec.template("", "{page}"), &["page", "text"]),
            _ => (spec.template("", "{path}"), &["path"]),
        };
        let (writer, finder) = (folder.to_owned(), folder.join(file));
        tools.add(spec.schema(arguments(names)), move |call| {
            let folder = writer.clone();
            Box::pin(async move {
                is_up(&folder.join(format!("{service}.down")))?;
                if !call.still_valid().await {
                    return Err(NotDone::not_applied("another worker has taken over"));
                }
                append(&folder.join(file), &line(call))?;
                tokio::time::sleep(ANSWER).await;
                Ok(Applied::new("done"))
            })
        })?;
        tools.find(&format!("{service}.{method}"), move |attempt| {
            let found = find(&finder, &line(attempt));
            Box::pin(async move { found })
        });
    }
    tools.sensitive("bank.pay", |call| match call.text("amount").parse() {
        Ok(0..=100) => Ok(()),
        Ok::<u64, _>(amount) => Err(format!("{amount} is more than the limit of 100")),
        // Not known before the step that finds it out.
        Err(_) if !call.is_complete() => Ok(()),
        Err(_) => Err("the amount is not a number".to_owned()),
    });
    tools.sensitive("mail.send", |call| match call.text("to") {
        "everyone" => Err("the mail goes to everyone".to_owned()),
        _ => Ok(()),
    });
    Ok(tools)
}

/// No call leaves the folder of drafts.
fn policy(call: &ProposedCall) -> Result<(), String> {
    let path = call.text("path");
    let deletes = call.tool == "files.delete" && call.is_complete();
    if path.contains("..") || deletes && !path.starts_with("drafts/") {
        return Err(format!("`{path}` is not in the folder of drafts"));
    }
    Ok(())
}

fn read(folder: &Path, path: &str) -> Answer {
    match fs::read_to_string(folder.join(path)) {
        Ok(text) => Ok(Applied::new(text.trim())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(NotDone::not_applied(ToolError::Fatal(format!("there is no file `{path}`"))))
        }
        Err(error) => Err(NotDone::not_applied(ToolError::Retry(error.to_string()))),
    }
}

/// A service is down as long as its file says, a word for each call: `retry`, or anything else.
fn is_up(file: &Path) -> Result<(), NotDone> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((first, rest)) = text.split_once('\n') else { return Ok(()) };
    fs::write(file, rest).map_err(NotDone::not_applied)?;
    Err(match first {
        "retry" => NotDone::not_applied(ToolError::Retry("the service is down".to_owned())),
        other => NotDone::not_applied(other),
    })
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::File::options().create(true).append(true).open(file)?;
    file.write_all(line.as_bytes())
}

/// The line of a call. The key of a call is the same for all attempts at it.
fn line(attempt: &Attempt<Action>) -> String {
    let key = attempt.key().map_or("", |key| key.as_str());
    let arguments = attempt.arguments().arguments().cloned().unwrap_or_default();
    format!("{key} {}\n", Value::Object(arguments))
}

fn find(file: &PathBuf, line: &str) -> Answer {
    let found = fs::read_to_string(file).unwrap_or_default().contains(line);
    found.then(|| Applied::new("found")).ok_or(NotDone::not_applied("it is not in the file"))
}

fn text<'a>(call: &'a Call<Action>, name: &str) -> &'a str {
    let argument = call.arguments().arguments().and_then(|arguments| arguments.get(name));
    argument.and_then(Value::as_str).unwrap_or_default()
}

/// A schema: these arguments, all of them text.
fn arguments(names: &[&str]) -> Value {
    let properties: Map<_, _> =
        names.iter().map(|&name| (name.to_owned(), json!({ "type": "string" }))).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

//! The tools of the example: an office that is a folder. Each irreversible effect is a line in a
//! file, so that everyone can see how often it happened.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use machine::contract::{
    Action, ActionRefusal, Applied, Attempt, Call, InvalidContract, OrRefused, Registry,
    ToolAnswer, ToolSpec,
};
use serde_json::{Map, Value, json};

use crate::{
    plan::ProposedCall,
    policy::{FATAL, Policy, RETRY},
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
pub fn tools(folder: &Path) -> Result<Registry, InvalidContract> {
    let mut tools = Registry::new();
    let reader = folder.to_owned();
    let spec = ToolSpec::idempotent("files", "read")?.template("", "{path}");
    tools.add(spec.schema(arguments(&["path"])), move |call| {
        let answer = read(&reader, text(call, "path"));
        Box::pin(async move { answer })
    })?;
    for (service, method, file) in WRITERS {
        // A line that was written to a file is there at once.
        let spec = ToolSpec::irreversible(service, method)?.settling_time(Duration::ZERO);
        let (template, names): (_, &[_]) = match service {
            "bank" => ("{to}: {amount}", &["to", "amount"]),
            "mail" => ("{to}", &["to", "text"]),
            "site" => ("{page}", &["page", "text"]),
            _ => ("{path}", &["path"]),
        };
        let spec = spec.template("", template).schema(arguments(names));
        let (writer, finder) = (folder.to_owned(), folder.join(file));
        tools.add(spec, move |call| {
            let folder = writer.clone();
            Box::pin(async move {
                is_up(&folder.join(format!("{service}.down"))).or_refused()?;
                if !call.still_valid().await {
                    let why = ActionRefusal::new("another worker has taken over");
                    return Err(why).or_refused();
                }
                append(&folder.join(file), &line(call))?;
                answers(&folder.join(format!("{service}.slow"))).await;
                Ok(Applied::new("done"))
            })
        })?;
        tools.finder(&format!("{service}.{method}"), move |attempt| {
            let found = find(&finder, &line(attempt));
            Box::pin(async move { found })
        })?;
    }
    Ok(tools)
}

pub const POLICY: Policy = Policy { concern, violation };

fn concern(call: &ProposedCall) -> Option<String> {
    match &*call.tool {
        "bank.pay" => match call.text("amount").parse() {
            Ok(0..=100) => None,
            Ok::<u64, _>(amount) => Some(format!("{amount} is more than the limit of 100")),
            // Not known before the step that finds it out.
            Err(_) => call.is_complete().then(|| "the amount is not a number".to_owned()),
        },
        "mail.send" if call.text("to") == "everyone" => {
            Some("the mail goes to everyone".to_owned())
        }
        _ => None,
    }
}

/// No call leaves the folder of drafts.
fn violation(call: &ProposedCall) -> Option<String> {
    let path = call.text("path");
    let deletes = call.tool == "files.delete" && call.is_complete();
    let leaves = path.contains("..") || deletes && !path.starts_with("drafts/");
    leaves.then(|| format!("`{path}` is not in the folder of drafts"))
}

fn read(folder: &Path, path: &str) -> ToolAnswer<Action> {
    let text = fs::read_to_string(folder.join(path)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            ActionRefusal::new(format!("there is no file `{path}`")).code(FATAL)
        }
        _ => ActionRefusal::new(error.to_string()).code(RETRY),
    });
    Ok(Applied::new(text.or_refused()?.trim()))
}

/// A service is down as long as its file says, a line for each call: a code, or anything else.
fn is_up(file: &Path) -> Result<(), ActionRefusal> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((first, rest)) = text.split_once('\n') else { return Ok(()) };
    fs::write(file, rest).map_err(|error| error.to_string())?;
    Err(match first {
        "retry" => ActionRefusal::new("the service is down").code(RETRY),
        "fatal" => ActionRefusal::new("the service does not know it").code(FATAL),
        other => ActionRefusal::new(other),
    })
}

/// A service takes its time to answer, and does not answer as long as this file is there.
async fn answers(slow: &Path) {
    tokio::time::sleep(ANSWER).await;
    while slow.exists() {
        tokio::time::sleep(ANSWER).await;
    }
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::File::options().create(true).append(true).open(file)?;
    file.write_all(line.as_bytes())
}

/// The line of a call. The key of a call is the same for all attempts at it.
fn line(attempt: &Attempt<Action>) -> String {
    let key = attempt.key.as_ref().map_or("", |key| key.as_str());
    let arguments = attempt.arguments.arguments().cloned().unwrap_or_default();
    format!("{key} {}\n", Value::Object(arguments))
}

fn find(file: &PathBuf, line: &str) -> ToolAnswer<Action> {
    let found = fs::read_to_string(file).unwrap_or_default().contains(line);
    let found = found.then(|| Applied::new("found"));
    found.ok_or_else(|| ActionRefusal::new("it is not in the file")).or_refused()
}

fn text<'a>(call: &'a Call<Action>, name: &str) -> &'a str {
    let argument = call.arguments.arguments().and_then(|arguments| arguments.get(name));
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

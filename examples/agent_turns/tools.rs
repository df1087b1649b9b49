//! The tools: HTTP, the file system, and a child process. Each does no harm if it is called again,
//! so a call whose worker was killed is repeated.

use std::{
    fs, io,
    net::SocketAddr,
    path::Path,
    process::{self, Stdio},
    time::Duration,
};

use machine::contract::{
    Action, ActionRefusal, Applied, Call, InvalidContract, OrRefused, Registry, ToolAnswer,
    ToolSpec,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use crate::say;

/// The file whose words are counted.
pub const NOTES: &str = "notes.txt";

/// After this time a call is repeated. It is also that for which a frozen worker delays a call.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The paths that the model may ask for, as patterns: none leaves the folder.
const PAGES: &str = "^/[a-z]+$";
const FILES: &str = r"^[a-z0-9-]+\.txt$";

/// The tools for this folder and this server.
///
/// # Errors
///
/// [`InvalidContract`] if a schema is not one.
pub fn tools(folder: &Path, web: SocketAddr) -> Result<Registry, InvalidContract> {
    let mut tools = Registry::new();
    tools.add(spec("web", "get", PAGES)?, move |call| {
        Box::pin(async move {
            begin(call);
            Ok(Applied::new(get(web, path(call)).await?))
        })
    })?;
    let reader = folder.to_owned();
    tools.add(spec("files", "read", FILES)?, move |call| {
        begin(call);
        let answer = read(&reader, path(call));
        Box::pin(async move { answer })
    })?;
    let home = folder.to_owned();
    tools.add(spec("shell", "count", FILES)?, move |call| {
        let home = home.clone();
        Box::pin(async move {
            begin(call);
            count(&home, path(call)).await
        })
    })?;
    Ok(tools)
}

/// A tool with one argument, a path of this pattern.
fn spec(service: &str, method: &str, pattern: &str) -> Result<ToolSpec, InvalidContract> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "pattern": pattern } },
        "required": ["path"],
        "additionalProperties": false,
    });
    Ok(ToolSpec::idempotent(service, method)?.timeout(Some(TIMEOUT)).schema(schema))
}

/// Says which worker has begun the call.
fn begin(call: &Call<Action>) {
    let tool = call.arguments.tool_name().unwrap_or_default();
    say(format_args!("worker {}: {tool}", process::id()));
}

fn path(call: &Call<Action>) -> &str {
    let path = call.arguments.arguments().and_then(|arguments| arguments.get("path"));
    path.and_then(Value::as_str).unwrap_or_default()
}

async fn get(web: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(web).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    Ok(body.to_owned())
}

fn read(folder: &Path, path: &str) -> ToolAnswer<Action> {
    let text = fs::read_to_string(folder.join(path)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ActionRefusal::new(format!("there is no file `{path}`")),
        _ => ActionRefusal::new(error.to_string()),
    });
    Ok(Applied::new(text.or_refused()?))
}

/// Counts words in a child process, slowly. An exit code other than 0 is a refusal.
async fn count(folder: &Path, path: &str) -> ToolAnswer<Action> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut child = Command::new("sh");
    child.args(["-c", r#"set -f; set -- $(cat "$1"); echo $#"#, "sh", path]).current_dir(folder);
    let output = child.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    if !output.status.success() {
        return Err(ActionRefusal::new(output.status.to_string())).or_refused();
    }
    Ok(Applied::new(format!("{} words", String::from_utf8_lossy(&output.stdout).trim())))
}

//! A model behind a server with the chat API of OpenAI. It is offered one tool: what its state of
//! the machine asks for. Asking has no other effect than its price, so it can be repeated; an
//! answer is on disk before the machine moves, and is not bought again.

use std::{
    env,
    fmt::Display,
    fs,
    io::BufReader,
    path::{Path, PathBuf},
    time::Duration,
};

use machine::worker::Failure;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::sleep};
use ureq::{Error, http::StatusCode};

use super::{
    Brief, Planner, Reply, Rung,
    context::{SYSTEM, end, prompt, repair},
    stream::Message,
};
use crate::{
    plan::{
        model::{Plan, Step, count, excess},
        trouble::Trouble,
    },
    workspace::{
        refusal::{At, Code, Refusal, Why},
        set::Digest,
        store::{ANSWERS, write_file},
        tools::Lookup,
    },
};

/// The base of the address, such as `http://127.0.0.1:8080/v1`.
const URL: &str = "CODING_AGENT_URL";
const MODEL: &str = "CODING_AGENT_MODEL";
/// Only servers that ask for a key need it.
const KEY: &str = "OPENAI_API_KEY";

const NOT_SET: Why = (Code::E_INVALID_ARGS, "set this environment variable");

/// The times that a model is told what is wrong with its answer.
const CORRECTIONS: usize = 2;

/// The type of an answer that is streamed.
const EVENTS: &str = "text/event-stream";

/// The most bytes of an answer, with all its events.
const MOST_BYTES: u64 = 16 << 20;

/// The longest pause that a server can ask for. The worker asks again after a longer one.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The fewest bytes of a key that is hidden. Shorter ones, such as `none`, are no secrets, and can
/// be a part of any answer.
const LEAST_BYTES: usize = 8;

/// A planner that asks a model.
#[derive(Clone)]
pub struct OpenAi {
    pub url: String,
    pub model: String,
    pub key: Option<String>,
    /// The folder of the answers.
    pub folder: PathBuf,
    /// The longest time without a byte. A whole answer can take ten times as long.
    pub patience: Duration,
    /// The pauses before a request is tried again, unless the server names another.
    pub pauses: Vec<Duration>,
}

/// Why a request has no answer, and the pause that the server asks for before another try.
type Failed = (Failure, Option<Duration>);

impl OpenAi {
    /// The model that the environment names. The store keeps its answers.
    pub fn from_environment(store: &Path) -> Result<Self, Refusal> {
        let setting = |name: &'static str| env::var(name).map_err(|_| Refusal::new(name, NOT_SET));
        Ok(Self {
            url: setting(URL)?,
            model: setting(MODEL)?,
            key: env::var(KEY).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()),
            folder: store.join(ANSWERS),
            patience: Duration::from_mins(2),
            pauses: [1, 4].map(Duration::from_secs).to_vec(),
        })
    }

    /// Asks for a call of a tool, and says what is wrong with answers that cannot be used, also
    /// where no schema can say it.
    async fn ask<T: DeserializeOwned + JsonSchema>(
        &self,
        brief: &Brief,
        tool: &str,
        task: &str,
        fault: fn(&T) -> Option<String>,
    ) -> Reply<T> {
        let function = json!({ "name": tool, "parameters": schema_for!(T) });
        let (mut text, mut corrections) = (prompt(brief, task), 0..CORRECTIONS);
        loop {
            let message = self.answer(brief, &function, &text).await?;
            let answer = message.answer::<T>(tool);
            let answer = answer.and_then(|answer| fault(&answer).map_or(Ok(answer), Err));
            let why = match answer {
                Ok(answer) => return Ok(Ok(answer)),
                Err(why) => end(&self.hide(&why)),
            };
            if corrections.next().is_none() {
                return Ok(Err(Trouble::new(Code::E_MODEL, &brief.visit, why)));
            }
            let told = message.told();
            text.extend(["\n\nYour answer cannot be used: ", &why, "\nThis was it:\n", &told]);
        }
    }

    /// The answer to this text, from the disk or from the server.
    async fn answer(
        &self,
        brief: &Brief,
        function: &Value,
        text: &str,
    ) -> Result<Message, Failure> {
        // Not all servers can be told to call it.
        let body = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": SYSTEM },
                { "role": "user", "content": text },
            ],
            "tools": [{ "type": "function", "function": function }],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let body = body.to_string();
        let name = format!("{}-{}", brief.visit, Digest::of(body.as_bytes()));
        let file = self.folder.join(name);
        let mut pauses = self.pauses.iter();
        loop {
            let (planner, body, file) = (self.clone(), body.clone(), file.clone());
            // It also keeps an answer that comes when nobody waits for it any more.
            let bought = spawn_blocking(move || planner.buy(&body, &file)).await?;
            let (why, pause) = match bought {
                Ok(message) => return Ok(message),
                Err(failed) => failed,
            };
            match pauses.next().map(|usual| pause.unwrap_or(*usual)) {
                Some(pause) if pause <= LONGEST_PAUSE && !why.is::<Trouble>() => sleep(pause).await,
                _ => return Err(why),
            }
        }
    }

    /// Reads the answer from its file, or asks for it and writes the file. Blocks.
    fn buy(&self, body: &str, file: &Path) -> Result<Message, Failed> {
        // One that cannot be read is bought again.
        let kept =
            fs::read(file).ok().and_then(|json| serde_json::from_slice::<Message>(&json).ok());
        if let Some(message) = kept {
            return Ok(message);
        }
        let mut message = self.request(body)?;
        message.rewrite(|text| self.hide(text));
        let json = serde_json::to_vec(&message).at(file.display());
        json.and_then(|json| write_file(file, &file.with_extension("new"), &json))
            .map_err(|refusal| self.lasting(refusal))?;
        Ok(message)
    }

    fn request(&self, body: &str) -> Result<Message, Failed> {
        let client = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0) // nothing else gets the key
            .timeout_connect(Some(self.patience))
            .timeout_per_read(Some(self.patience))
            .timeout_global(Some(self.patience * 10))
            .build()
            .new_agent();
        let url = format!("{}/chat/completions", self.url.trim_end_matches('/'));
        let mut request = client.post(url.as_str()).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut reply = request.send(body).map_err(|error| match error {
            // The address or the key cannot be used.
            Error::Http(_) | Error::BadUri(_) | Error::TlsRequired => self.lasting(error),
            _ => self.passing(error),
        })?;
        let status = reply.status();
        let header = |name: &'static str| reply.headers().get(name)?.to_str().ok();
        let asked = header("retry-after");
        let pause = asked.and_then(|it| it.trim().parse().ok()).map(Duration::from_secs);
        let kind = header("content-type").and_then(|it| it.get(..EVENTS.len()));
        let streams = kind.is_some_and(|kind| kind.eq_ignore_ascii_case(EVENTS));
        let content = reply.body_mut().with_config().limit(MOST_BYTES);
        if status.is_success() && streams {
            let message = Message::read(BufReader::new(content.reader()));
            return message.map_err(|error| self.passing(error));
        }
        let text = content.lossy_utf8(true).read_to_string();
        let (text, answers) = if status.is_success() {
            let text = text.map_err(|error| self.passing(error))?;
            if let Some(message) = Message::whole(&text) {
                return Ok(message);
            }
            (text, "does not stream: it answers")
        } else {
            (text.unwrap_or_default(), "answers")
        };
        let why = format!("the server {answers} {status}: {}", end(&self.hide(&text)));
        let is_passing = status.is_server_error()
            || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        Err(if is_passing { (why.into(), pause) } else { self.lasting(why) })
    }

    fn lasting(&self, why: impl Display) -> Failed {
        let why = self.hide(&why.to_string());
        (Trouble::new(Code::E_MODEL, &self.model, why).into(), None)
    }

    fn passing(&self, why: impl Display) -> Failed {
        (self.hide(&why.to_string()).into(), None)
    }

    /// A server can repeat the key, also as a part of JSON. Neither people nor the disk get it.
    fn hide(&self, text: &str) -> String {
        let Some(key) = self.key.as_deref().filter(|key| key.len() >= LEAST_BYTES) else {
            return text.to_owned();
        };
        let json = json!(key).to_string();
        let json = &json[1..json.len() - 1];
        let forms = [key, json, &json.replace('/', r"\/")];
        forms.into_iter().fold(text.to_owned(), |text, form| text.replace(form, "(the key)"))
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Questions {
    questions: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reads {
    reads: Vec<Lookup>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Repair {
    steps: Option<Vec<Step>>,
}

impl Planner for OpenAi {
    async fn questions(&self, brief: &Brief) -> Reply<Vec<String>> {
        let task = "Ask the person what you have to know for a plan; best give an empty list.";
        let reply =
            self.ask::<Questions>(brief, "ask", task, |it| excess(it, it.questions.len())).await?;
        Ok(reply.map(|it| it.questions))
    }

    async fn reads(&self, brief: &Brief) -> Reply<Vec<Lookup>> {
        let task = "Name the files to read and the texts to search for, the most important last.";
        let reply = self.ask::<Reads>(brief, "read", task, |it| excess(it, it.reads.len())).await?;
        Ok(reply.map(|it| it.reads))
    }

    async fn plan(&self, brief: &Brief) -> Reply<Plan> {
        let task = "Make a plan, with the commands that verify it.";
        self.ask(brief, "plan", task, Plan::fault).await
    }

    async fn repair(
        &self,
        brief: &Brief,
        trouble: &Trouble,
        rung: Rung,
    ) -> Reply<Option<Vec<Step>>> {
        let task = repair(brief, trouble, rung);
        let fault = |it: &Repair| excess(it, it.steps.as_deref().map_or(0, count));
        let reply = self.ask::<Repair>(brief, "repair", &task, fault).await?;
        Ok(reply.map(|it| it.steps))
    }
}

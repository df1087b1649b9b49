use std::{
    env,
    fmt::Display,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::ColorChoice;

use super::{Error, terminal::Terminal};
use machine::{
    Id,
    actor::Actors,
    observe::{Observer, WaitingFor},
    store::{OpenOptions, Store},
    text::{is_invisible, shell_word},
    view::{Human, Language},
};

/// The program around the commands.
///
/// ```
/// use machine::actor::Actors;
/// use machine_console::cli::Context;
/// use machine::contract::AnyExecution;
/// use machine::store::OpenOptions;
///
/// let context = Context::new("agent.db", Actors::issue("mailer")?)
///     .options(OpenOptions::new().machine::<AnyExecution>());
/// # drop(context);
/// # Ok::<(), machine::actor::InvalidName>(())
/// ```
#[derive(Debug)]
pub struct Context {
    db: PathBuf,
    pub(super) options: OpenOptions,
    pub(super) actors: Arc<Actors>,
    pub(super) language: Language,
    /// Colours; by default on a terminal, unless `NO_COLOR` is set.
    pub(super) color: ColorChoice,
    pub(super) program: Option<clap::Command>,
    prefix: Option<String>,
    /// The file that the options have their key from, by the option `--key-file`.
    pub(super) key_file: Option<PathBuf>,
}

impl Context {
    /// Creates a context from the database file and the actors that move the library's own
    /// executions.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>, actors: impl Into<Arc<Actors>>) -> Self {
        Self {
            db: db.into(),
            options: OpenOptions::new(),
            actors: actors.into(),
            language: Language::English,
            color: ColorChoice::Auto,
            program: None,
            prefix: None,
            key_file: None,
        }
    }

    /// Sets the options for the file: the key of its digests, and the machines and tools that the
    /// program declares, which `check` compares with the stored ones.
    #[must_use]
    pub fn options(mut self, options: OpenOptions) -> Self {
        self.options = options;
        self
    }

    /// The language of summaries, questions and the prompt; by default English. All other texts are
    /// English.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// The command line of the whole program: commands are shown with `--db FILE` if it has that
    /// option.
    #[must_use]
    pub fn program(mut self, program: clap::Command) -> Self {
        self.program = Some(program);
        self
    }

    /// Sets how people call the commands of this program for this file, such as
    /// `expense --file expense.db`, so that next steps and messages show commands that run
    /// unchanged. By default, the program as it was called, with its option `--db`. [`shell_word`]
    /// writes the name of a file as a shell reads it.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Opens the file for reading; it is never created or changed. What the program cannot read can
    /// be looked at: only workers need to read all that they drive.
    pub(super) async fn read(&self) -> Result<Store, Error> {
        Ok(self.options.clone().with_misfits().read_only(&self.db).await?)
    }

    /// Opens the file for writing; it is never created.
    pub(super) async fn write(&self) -> Result<Store, Error> {
        Ok(self.options.clone().with_misfits().must_exist().sqlite(&self.db).await?)
    }

    pub(super) fn command(&self) -> String {
        if let Some(prefix) = &self.prefix {
            return prefix.chars().filter(|one| !is_invisible(*one)).collect();
        }
        let mut command = shell_word(env::args_os().next().unwrap_or_else(|| "machine".into()));
        let mut arguments = self.program.iter().flat_map(clap::Command::get_arguments);
        if arguments.any(|argument| argument.get_long() == Some("db")) {
            command = format!("{command} --db {}", file(&self.db));
        }
        if let Some(key) = &self.key_file {
            command = format!("{command} --key-file {}", file(key));
        }
        command
    }

    /// Returns a command of this program for this file as people type it, on one line, such as a
    /// [`NextStep`](machine::observe::NextStep).
    #[must_use]
    pub fn line(&self, command: impl Display) -> String {
        format!("{} {command}", self.command())
    }

    /// The text with whole commands where it has commands about a machine in backquotes, such as
    /// `show ID`.
    pub(super) fn with_commands(&self, text: &str) -> String {
        let mut whole = String::new();
        for (index, part) in text.split('`').enumerate() {
            let mut words = part.split(' ');
            let is_verb = words.next().is_some_and(|verb| {
                !verb.is_empty() && verb.bytes().all(|byte| byte.is_ascii_lowercase())
            });
            if index > 0 {
                whole.push('`');
                if is_verb && words.next().is_some_and(|id| id.parse::<Id>().is_ok()) {
                    whole.push_str(&self.line(""));
                }
            }
            whole.push_str(part);
        }
        whole
    }

    #[cfg(feature = "http")]
    pub(super) fn database(&self) -> String {
        let name = self.db.file_name().unwrap_or(self.db.as_os_str());
        name.to_string_lossy().into_owned()
    }

    pub(super) fn observer(&self, store: &Store) -> Observer {
        Observer::new(store).language(self.language)
    }

    /// Continues "a worker runs it" if no worker has ever opened the file. Empty if that cannot be
    /// read: it is an addition only.
    pub(super) async fn unless_worker(&self, store: &Store, id: Id) -> &'static str {
        let detail = Box::pin(self.observer(store).detail::<Human>(id)).await;
        let cause = detail.ok().and_then(|detail| detail.waits_for.as_ref().map(|it| it.cause));
        match cause {
            Some(WaitingFor::Program) => {
                ", but none has ever opened this file: start the program that has its worker"
            }
            _ => "",
        }
    }

    /// The commands that a person can give next. None if they cannot be read: they are an addition
    /// only.
    pub(super) async fn next(&self, store: &Store, id: Id) -> Vec<String> {
        let next = Box::pin(self.observer(store).next(id)).await.unwrap_or_default();
        next.iter().map(|step| self.line(step)).collect()
    }

    pub(super) fn terminal(&self) -> Terminal {
        Terminal::new(self.color)
    }
}

/// The name of a file as the value of an option, which must not look like an option itself.
fn file(path: &Path) -> String {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return shell_word(Path::new(".").join(path));
    }
    shell_word(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

#[cfg(feature = "http")]
use std::path::Path;
use std::{path::PathBuf, sync::Arc};

use clap::ColorChoice;

use super::{Error, terminal::Terminal};
use machine::{
    actor::Actors,
    observe::Observer,
    store::{OpenOptions, Store},
    view::Language,
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
    options: OpenOptions,
    pub(super) actors: Arc<Actors>,
    pub(super) language: Language,
    color: ColorChoice,
    pub(super) program: Option<clap::Command>,
    #[cfg(feature = "http")]
    prefix: Option<String>,
}

impl Context {
    /// The database file, and the actors by which the library's own executions are moved.
    #[must_use]
    pub fn new(db: impl Into<PathBuf>, actors: impl Into<Arc<Actors>>) -> Self {
        Self {
            db: db.into(),
            options: OpenOptions::new(),
            actors: actors.into(),
            language: Language::English,
            color: ColorChoice::Auto,
            program: None,
            #[cfg(feature = "http")]
            prefix: None,
        }
    }

    /// Options for the file: the key of its digests, and the machines and tools that the program declares, which
    /// `check` compares with what is stored.
    #[must_use]
    pub fn options(mut self, options: OpenOptions) -> Self {
        self.options = options;
        self
    }

    /// The language of the sentences in views; by default English.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Colours; by default on a terminal, unless `NO_COLOR` is set.
    #[must_use]
    pub fn color(mut self, color: ColorChoice) -> Self {
        self.color = color;
        self
    }

    /// The command line of the whole program: `completions` needs it, and the page of `serve` shows commands with
    /// `--db FILE` if it has that option.
    #[must_use]
    pub fn program(mut self, program: clap::Command) -> Self {
        self.program = Some(program);
        self
    }

    /// How people call the commands of this program for this file, such as `expense --file expense.db`, for the page of
    /// `serve`. By default the name of the program, with its option `--db`.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// True if the program has declared neither machines nor tools.
    pub(super) fn declares_nothing(&self) -> bool {
        self.options.declares_nothing()
    }

    /// Opens the file for reading; it is never created or changed. What the program cannot read can be looked at:
    /// only workers need to read all that they drive.
    pub(super) async fn read(&self) -> Result<Store, Error> {
        Ok(self.options.clone().with_misfits().read_only(&self.db).await?)
    }

    /// Opens the file for writing; it is never created.
    pub(super) async fn write(&self) -> Result<Store, Error> {
        Ok(self.options.clone().with_misfits().must_exist().sqlite(&self.db).await?)
    }

    /// The prefix of commands of this program for this file.
    #[cfg(feature = "http")]
    pub(super) fn command(&self) -> String {
        if let Some(prefix) = &self.prefix {
            return prefix.clone();
        }
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_stem);
        let program = program.map_or("machine".into(), std::ffi::OsStr::to_string_lossy);
        let program = quoted(&program);
        let mut arguments = self.program.iter().flat_map(clap::Command::get_arguments);
        if arguments.any(|argument| argument.get_long() == Some("db")) {
            return format!("{program} --db {}", quoted(&self.db.to_string_lossy()));
        }
        program
    }

    /// The name of the file, without its folder.
    #[cfg(feature = "http")]
    pub(super) fn database(&self) -> String {
        let name = self.db.file_name().unwrap_or(self.db.as_os_str());
        name.to_string_lossy().into_owned()
    }

    pub(super) fn observer(&self, store: &Store) -> Observer {
        Observer::new(store).language(self.language)
    }

    pub(super) fn terminal(&self) -> Terminal {
        Terminal::new(self.color, self.language)
    }
}

/// One word for a shell.
#[cfg(feature = "http")]
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || matches!(one, '.' | '_' | '-' | '/');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(all(test, feature = "http"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A program with the console built in may have another option for its file, or none.
    #[test]
    fn commands_have_options_that_the_program_takes() {
        let context = || Context::new("a b.db", Actors::issue("expense").unwrap());
        let program = clap::Command::new("expense");
        let plain = context().program(program.clone()).command();
        assert!(!plain.contains(' '), "{plain}");
        assert_eq!(context().command(), plain);
        let program = program.arg(clap::Arg::new("db").long("db"));
        assert_eq!(context().program(program).command(), format!("{plain} --db 'a b.db'"));
        let own = "expense --file expense.db";
        assert_eq!(context().prefix(own).command(), own);
    }
}

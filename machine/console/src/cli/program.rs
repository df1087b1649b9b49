use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{ColorChoice, CommandFactory, Parser, error::ContextValue};

use super::{Command, Context, Error, command::run, exit::CODES};
use machine::{actor::Actors, store::OpenOptions, text::OneLine, view::Language};

/// Operate durable machines: see what needs attention, decide, verify, back up.
#[derive(Debug, Parser)]
#[command(name = "machine", version, after_help = CODES)]
pub(super) struct Program {
    #[command(subcommand)]
    command: Command,
    /// The database; it is never created.
    #[arg(long, global = true, env = "MACHINE_DB", value_name = "FILE")]
    db: Option<PathBuf>,
    /// The file with the key of the digests: 32 bytes, or 64 hexadecimal digits.
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The language of summaries, questions and the prompt: `en` or `zh`.
    #[arg(long, global = true, value_name = "LANGUAGE", default_value = "en")]
    lang: Language,
    /// Colours of the output.
    #[arg(long, global = true, value_name = "WHEN", default_value_t, hide_possible_values = false)]
    color: ColorChoice,
}

/// The whole program `machine`: parses the arguments, runs the command, and reports the error.
#[must_use]
pub fn main() -> ExitCode {
    let program = Program::try_parse().unwrap_or_else(|error| legible(error).exit());
    match program.context() {
        // The store has its own threads, so no runtime is needed.
        Ok((command, context)) => pollster::block_on(run(command, &context)),
        Err(error) => {
            // The output may be closed.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            error.into()
        }
    }
}

/// The error with legible values: what cannot be seen in an argument, or would leave its line, is
/// escaped.
fn legible(mut error: clap::Error) -> clap::Error {
    let text = |text: &str| OneLine(text).to_string();
    let values = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(value) => Some((kind, ContextValue::String(text(value)))),
        ContextValue::Strings(values) => {
            let values = values.iter().map(|value| text(value)).collect();
            Some((kind, ContextValue::Strings(values)))
        }
        _ => None,
    });
    for (kind, value) in values.collect::<Vec<_>>() {
        error.insert(kind, value);
    }
    error
}

impl Program {
    fn context(self) -> Result<(Command, Context), Error> {
        let db = self.command.file().or(self.db);
        let db =
            db.ok_or_else(|| Error::usage("pass the database with --db FILE or MACHINE_DB"))?;
        let mut options = OpenOptions::new();
        if let Some(file) = &self.key_file {
            options = options.key(key(file)?);
        }
        let actors = Actors::issue("machine").map_err(|error| Error::refused(error.to_string()))?;
        let mut context =
            Context::new(db, actors).options(options).language(self.lang).program(Self::command());
        context.color = self.color;
        context.key_file = self.key_file;
        Ok((self.command, context))
    }
}

fn key(file: &Path) -> Result<[u8; 32], Error> {
    const WHAT: &str = "a key file, with 32 bytes, or 64 hexadecimal digits";
    // White space around the digits is allowed.
    let bytes = super::file::read(file, 1024, WHAT)?;
    if let Ok(key) = <[u8; 32]>::try_from(&*bytes) {
        return Ok(key);
    }
    hexadecimal(bytes.trim_ascii()).ok_or_else(|| {
        let shown = file.display().to_string();
        Error::usage(format!(
            "{} is not a key file; it must have 32 bytes, or 64 hexadecimal digits",
            OneLine(&shown)
        ))
    })
}

/// The key that 64 digits write.
fn hexadecimal(digits: &[u8]) -> Option<[u8; 32]> {
    let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
    let mut key = [0; 32];
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::try_from(16 * digit(2 * at)? + digit(2 * at + 1)?).ok()?;
    }
    (digits.len() == 64).then_some(key)
}

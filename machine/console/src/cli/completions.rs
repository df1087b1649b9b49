use clap_complete::Shell;

use super::{Context, Error, Exit, terminal};

/// `completions`: the shell script that completes these commands.
#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, context: &Context) -> Result<Exit, Error> {
        let mut program = context.program.clone().ok_or_else(|| {
            Error::refused(
                "this program does not support completions; enable them with `Context::program`",
            )
        })?;
        let name = program.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, name, &mut script);
        terminal::print(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}

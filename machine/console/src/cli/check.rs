use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    Context, Error, Exit,
    output::{Format, Output},
    progress::Progress,
};
use machine::{
    definition::Definition,
    store::Check as Checked,
    text::{OneLine, shortened},
};

/// `check`: checks that every machine can be read, also by a new program.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// A JSON file with one definition of a new program, or a list. `serde_json` writes a
    /// `DEFINITION`; `topology --definition` prints a stored one.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

impl Check {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let against = self.against.as_deref().map(definitions).transpose()?;
        let store = context.read().await?;
        let checked = if let Some(definitions) = against {
            context.observer(&store).check_against(&definitions).await?
        } else {
            let progress = Progress::open("machines");
            context.observer(&store).check(|done| progress.count(done)).await?
        };
        let mut text = checked.to_string();
        if text.is_empty() {
            text.push_str("no machine has been stored in this file\n");
        }
        if context.options.declares_nothing() && self.against.is_none() {
            text.push_str(UNDECLARED);
        }
        let is_clean = checked.is_clean();
        Output::new(document(&checked), text).problems(!is_clean).print(self.format)
    }
}

/// Without declarations, nothing is compared with a program.
const UNDECLARED: &str = "\
no program was compared with it: a program declares its machines and tools with `Context::options`, and
`check --against FILE` takes the definitions of one
";

/// The format of the file of `--against`.
const WHAT: &str =
    "JSON with definitions, as `topology --definition` or `serde_json` writes them: one, or a list";

const LARGEST: u64 = 64 * 1024 * 1024;

/// One definition, or a list.
fn definitions(file: &Path) -> Result<Vec<Definition>, Error> {
    let shown = shortened(&file.display().to_string());
    let bytes = super::file::read(file, LARGEST, WHAT)?;
    let wrong = |error: serde_json::Error| {
        let error = error.to_string();
        Error::usage(format!(
            "{shown} has no definition of a machine; it must be {WHAT}: {}",
            OneLine(&error)
        ))
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(wrong)?;
    match value {
        Value::Array(_) => serde_json::from_value(value).map_err(wrong),
        one => Ok(vec![serde_json::from_value(one).map_err(wrong)?]),
    }
}

fn document(checked: &Checked) -> Value {
    let machines = checked.machines.iter().map(|machine| {
        let changes = machine.changes.iter().flat_map(|it| &it.differences).map(|change| {
            json!({
                "compatible": change.compatible, "state": change.state, "text": change.to_string(),
            })
        });
        json!({
            "machine": machine.machine,
            "checked": machine.checked,
            "changes": changes.collect::<Vec<_>>(),
            "blocked": machine.blocked,
            "broken_rows": machine.broken_rows,
        })
    });
    json!({
        "clean": checked.is_clean(),
        "broken_definitions": checked.broken_definitions,
        "machines": machines.collect::<Vec<_>>(),
        "tools": checked.tools,
    })
}

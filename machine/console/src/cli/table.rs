use comfy_table::{
    Attribute, Cell, Color, ContentArrangement, ContentLineStyle, LineStyle, TableStyle,
};

use super::terminal::{self, Terminal, escaped};
use machine::{contract::CallStage, text::OneLine, view::StateCalls};

/// A table for people. On a terminal it fits the width; elsewhere each row is one line.
#[derive(Debug)]
pub(super) struct Table(comfy_table::Table, Terminal);

/// Columns with lines between them, and a line below the names.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction('│'))
    .header_separator(LineStyle::none().fill('─').junction('┼'))
    .content_lines(ContentLineStyle::none().junction('│'));

impl Table {
    pub(super) fn new(terminal: Terminal, columns: &[&str]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(STYLE);
        table.set_content_arrangement(if terminal.is_terminal && terminal::width().is_some() {
            ContentArrangement::Dynamic
        } else {
            ContentArrangement::Disabled
        });
        if terminal.is_colored {
            table.enforce_styling();
        } else if !terminal.is_terminal {
            table.force_no_tty();
        }
        let names = columns.iter().map(|name| {
            let name = Cell::new(name);
            if terminal.is_colored { name.add_attribute(Attribute::Bold) } else { name }
        });
        table.set_header(names);
        Self(table, terminal)
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.0.add_row(cells.into_iter().collect::<Vec<_>>());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows below a title, after an empty line; nothing without rows.
    pub(super) fn part(&self, title: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        format!("\n{}\n{}", self.1.title(title), self.text())
    }

    /// The rows, without spaces at their ends.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.0.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A cell with text from outside: it cannot leave its line, nor look like a border.
pub(super) fn cell(text: impl AsRef<str>) -> Cell {
    let text = OneLine(text.as_ref()).to_string();
    Cell::new(escaped(&text, |character| matches!(character, '\u{2500}'..='\u{257f}')))
}

/// A cell with lines of the library itself, such as commands.
pub(super) fn lines(lines: &[String]) -> Cell {
    Cell::new(lines.join("\n"))
}

pub(super) fn label(terminal: Terminal, label: &str) -> Cell {
    let color = match label {
        "CONTRADICTED" | "IN_DOUBT" => Some(Color::Red),
        "FAILED" | "REJECTED" => Some(Color::Magenta),
        "WAITING" => Some(Color::Yellow),
        "SUCCESS" => Some(Color::Green),
        _ => None,
    };
    colored(terminal, label, color)
}

/// A cell with the label of a state, and what its calls do.
pub(super) fn state(terminal: Terminal, name: &str, calls: Option<&StateCalls>) -> Cell {
    let Some(calls) = calls else { return label(terminal, name) };
    let first = calls.stages.first().map(|it| it.stage);
    colored(terminal, &calls.label, first.and_then(stage_color))
}

pub(super) fn stage_color(stage: CallStage) -> Option<Color> {
    match stage {
        CallStage::InDoubt => Some(Color::Red),
        CallStage::Asked => Some(Color::Yellow),
        _ => None,
    }
}

/// A cell with text from outside, coloured if the output is.
pub(super) fn colored(terminal: Terminal, text: &str, color: Option<Color>) -> Cell {
    match color.filter(|_| terminal.is_colored) {
        Some(color) => cell(text).fg(color),
        None => cell(text),
    }
}

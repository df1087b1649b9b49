use indicatif::{ProgressBar, ProgressStyle};

/// The progress of a long command, on a terminal only, and never on the standard output.
#[derive(Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Counts things of this kind.
    pub(super) fn of(what: &'static str) -> Self {
        Self::new(ProgressBar::new(0), "{bar:30} {human_pos} of {human_len} {msg} {eta}", what)
    }

    /// Counts things of this kind whose total is unknown.
    pub(super) fn open(what: &'static str) -> Self {
        Self::new(ProgressBar::no_length(), "{human_pos} {msg} {elapsed}", what)
    }

    fn new(bar: ProgressBar, template: &str, what: &'static str) -> Self {
        let style = ProgressStyle::with_template(template);
        // The templates are constants.
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self(bar)
    }

    pub(super) fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }

    pub(super) fn count(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

use std::time::Duration;

use async_io::Timer;
use futures_util::future::{Either, pending, select};

use super::{
    Context, Error, Exit,
    output::{Format, Output},
    stop::Stop,
};
use crate::audience::Audience;
use machine::store::Store;

/// Commits within this time are shown together.
const SHORTEST: Duration = Duration::from_millis(100);

/// The time after which times on a screen, such as `3 min ago`, are updated.
const LONGEST: Duration = Duration::from_secs(10);

/// For whom a view is shown, how often, and in which format.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct ViewOptions {
    /// The audience.
    #[arg(long, value_enum, default_value_t)]
    pub(super) audience: Audience,
    /// Show it again after each commit of any process, until Ctrl-C.
    #[arg(long)]
    pub(super) watch: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

impl ViewOptions {
    /// Prints an answer once, or again and again.
    pub(super) async fn show(
        self,
        context: &Context,
        store: &Store,
        answer: impl AsyncFn() -> Result<Output, Error>,
    ) -> Result<Exit, Error> {
        let format = self.format;
        if !self.watch {
            return answer().await?.print(format);
        }
        let (stop, observer, terminal) = (Stop::new(), context.observer(store), context.terminal());
        loop {
            // Listen before reading, so that a commit in between is not missed.
            let (commit, stopped) = (observer.next_commit(), stop.listen());
            if stop.is_set() {
                return Ok(Exit::Done);
            }
            let answer = answer().await?;
            if !format.json {
                terminal.clear()?;
            }
            answer.print(format)?;
            let tick = async {
                if format.json || !terminal.is_terminal {
                    pending::<()>().await;
                }
                Timer::after(LONGEST).await;
            };
            let change = async {
                select(commit, std::pin::pin!(tick)).await;
                Timer::after(SHORTEST).await;
            };
            if let Either::Right(_) = select(std::pin::pin!(change), stopped).await {
                return Ok(Exit::Done);
            }
        }
    }
}

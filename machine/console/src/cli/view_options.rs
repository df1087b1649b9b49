use super::output::Format;
use crate::audience::Audience;

/// For whom a view is shown, and in which format.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct ViewOptions {
    /// The audience.
    #[arg(long, value_enum, default_value_t)]
    pub(super) audience: Audience,
    #[command(flatten)]
    pub(super) format: Format,
}

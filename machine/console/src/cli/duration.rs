use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

use machine::text::shortened;

/// The text is not a duration. See [`duration`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a duration: give numbers with units, such as `90s`, `1h 30m` or `90d`; the units \
     are ms, s, m, h, d (24 hours) and w, and months and years have no fixed length"
)]
pub struct InvalidDuration(String);

/// Parses a duration in the format of the commands, such as `90s`, `1h 30m` or `90d`; a day has 24
/// hours. For the options of a program of your own:
///
/// ```
/// use std::time::Duration;
///
/// #[derive(clap::Parser)]
/// struct Cli {
///     #[arg(long, value_parser = machine_console::cli::duration)]
///     limit: Duration,
/// }
///
/// # use clap::Parser;
/// assert_eq!(Cli::parse_from(["work", "--limit", "2d"]).limit, Duration::from_secs(172_800));
/// assert!(machine_console::cli::duration("1mo").is_err());
/// ```
///
/// # Errors
///
/// [`InvalidDuration`] if the text is not a duration, or the duration is negative or longer than
/// some 19,000 years.
pub fn duration(text: &str) -> Result<Duration, InvalidDuration> {
    let wrong = || InvalidDuration(shortened(text));
    let span: Span = text.parse().map_err(|_| wrong())?;
    let time = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(time).map_err(|_| wrong())
}

//! A consumer moves on only from where it is, and others are not moved by it.

use super::{Open, ensure, sample::batch, subject::Subject};
use crate::store::{backend::WriteBatch, inbox::consumer::Advance, read::subscribe::Position};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let at = |generation, sequence| Some(Position { generation, sequence });
    is_at(&store, "memory", None).await?;
    advances(&store, "memory", at(1, 1), at(1, 2), false).await?;
    advances(&store, "memory", None, at(1, 5), true).await?;
    // Of two who read the same position, one moves it.
    advances(&store, "memory", None, at(1, 6), false).await?;
    advances(&store, "memory", at(1, 5), at(1, 9), true).await?;
    advances(&store, "memory", at(1, 5), at(1, 9), false).await?;
    is_at(&store, "memory", at(1, 9)).await?;
    is_at(&store, "another", None).await?;
    advances(&store, "another", None, at(1, 2), true).await?;
    is_at(&store, "memory", at(1, 9)).await?;
    // The same number in another generation is another position; it may also go back.
    advances(&store, "memory", at(2, 9), at(2, 10), false).await?;
    advances(&store, "memory", at(1, 9), at(2, 3), true).await?;
    is_at(&store, "memory", at(2, 3)).await
}

async fn is_at(store: &Subject, name: &str, expected: Option<Position>) -> Result<(), String> {
    let found = store.0.offset(name.to_owned()).await?;
    ensure!(found == expected, "{name} is at {found:?}, not {expected:?}");
    Ok(())
}

async fn advances(
    store: &Subject,
    name: &str,
    expected: Option<Position>,
    to: Option<Position>,
    moves: bool,
) -> Result<(), String> {
    let to = to.ok_or("a consumer cannot move to nowhere")?;
    let before = store.0.offset(name.to_owned()).await?;
    let advance = Some(Advance { consumer: name.to_owned(), expected, to });
    let applied = store.accepts(WriteBatch { advance, ..batch([]) }).await?;
    ensure!(applied.advanced == moves, "{name} from {expected:?} to {to:?}: {}", applied.advanced);
    is_at(store, name, if moves { Some(to) } else { before }).await
}

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    process::Child,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
};

use super::run::Text;

/// The most bytes that are kept.
const MOST_BYTES: usize = 64 << 10;

/// What a command prints: its output and its errors.
pub struct Pipes([Pipe; 2]);

#[derive(Default)]
struct Pipe {
    /// `None` when no process can write to it.
    file: Option<File>,
    left_out: usize,
    end: VecDeque<u8>,
}

impl Pipes {
    pub fn of(child: &mut Child) -> Self {
        let files =
            [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        Self(files.map(|file| Pipe { file: file.map(File::from), ..Pipe::default() }))
    }

    /// Reads until a process has ended, or, without one, until no process holds the pipes. Returns
    /// `false` if that takes longer.
    pub fn read(&mut self, process: Option<&OwnedFd>, limit: Duration) -> io::Result<bool> {
        let start = Instant::now();
        loop {
            let files = self.0.iter().filter_map(|pipe| pipe.file.as_ref());
            let mut polled: Vec<_> = files.map(|file| PollFd::new(file, PollFlags::IN)).collect();
            polled.extend(process.map(|process| PollFd::new(process, PollFlags::IN)));
            let left = limit.saturating_sub(start.elapsed());
            if polled.is_empty() || left.is_zero() {
                return Ok(polled.is_empty());
            }
            let left = Timespec::try_from(left).ok();
            retry_on_intr(|| poll(&mut polled, left.as_ref()))?;
            let mut ready: Vec<bool> = polled.iter().map(|it| !it.revents().is_empty()).collect();
            if process.is_some() && ready.pop() == Some(true) {
                return Ok(true);
            }
            let open = self.0.iter_mut().filter(|pipe| pipe.file.is_some());
            for (pipe, _) in open.zip(ready).filter(|(_, ready)| *ready) {
                pipe.read()?;
            }
        }
    }

    pub fn into_texts(self) -> [Text; 2] {
        self.0.map(|Pipe { left_out, end, .. }| {
            let end = String::from_utf8_lossy(&Vec::from(end)).into_owned();
            Text { left_out, end }
        })
    }
}

impl Pipe {
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 8 << 10];
        let Some(file) = &mut self.file else { return Ok(()) };
        match file.read(&mut bytes)? {
            0 => self.file = None,
            count => self.end.extend(&bytes[..count]),
        }
        let excess = self.end.len().saturating_sub(MOST_BYTES);
        self.end.drain(..excess);
        self.left_out += excess;
        Ok(())
    }
}

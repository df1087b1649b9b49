use std::{
    collections::VecDeque,
    fs::File,
    io::{self, ErrorKind, Read},
    os::fd::OwnedFd,
    process::Child,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
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
        while process.is_some() || self.0.iter().any(|pipe| pipe.file.is_some()) {
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            let files = self.0.iter().filter_map(|pipe| pipe.file.as_ref());
            let mut polled: Vec<_> = files.map(|file| PollFd::new(file, PollFlags::IN)).collect();
            polled.extend(process.map(|process| PollFd::new(process, PollFlags::IN)));
            match poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ready: Vec<bool> = polled.iter().map(|it| !it.revents().is_empty()).collect();
            let mut ready = ready.into_iter();
            for pipe in self.0.iter_mut().filter(|pipe| pipe.file.is_some()) {
                if ready.next() == Some(true) {
                    pipe.read()?;
                }
            }
            if ready.next() == Some(true) {
                break;
            }
        }
        Ok(true)
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
        match file.read(&mut bytes) {
            Ok(0) => self.file = None,
            Ok(count) => self.end.extend(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        let excess = self.end.len().saturating_sub(MOST_BYTES);
        self.end.drain(..excess);
        self.left_out += excess;
        Ok(())
    }
}

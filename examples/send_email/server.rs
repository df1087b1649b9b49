//! A real SMTP server on loopback that stores the mails it receives.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use mailin::{Action, Handler, Response, SessionBuilder, response};

/// The answer that the server is about to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// Accepts or refuses a mail for this recipient.
    Recipient(&'a str),
    /// This mail was received and stored.
    Stored(&'a [u8]),
}

/// The server. It runs until the process ends.
#[derive(Debug)]
pub struct SmtpServer {
    address: SocketAddr,
    kept: Arc<Kept>,
}

#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    count: Mutex<usize>,
}

impl SmtpServer {
    /// Listens on a free port of loopback, and stores mails as files in `folder`.
    pub fn start(
        folder: &Path,
        policy: impl Fn(Step<'_>) -> Response + Send + Sync + 'static,
    ) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let count = fs::read_dir(folder)?.count();
        let kept = Arc::new(Kept { folder: folder.to_owned(), count: Mutex::new(count) });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (policy, shared) = (Arc::new(policy), Arc::clone(&kept));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, policy) = (Arc::clone(&shared), Arc::clone(&policy));
                let inbox = Inbox { kept, policy, mail: vec![] };
                // A client that disconnects ends only its own session.
                thread::spawn(move || serve(&stream, inbox));
            }
        });
        Ok(Self { address, kept })
    }

    /// The address as `HOST:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The number of stored mails.
    pub fn received(&self) -> usize {
        *self.kept.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Stores a mail in the next file. Servers of other processes may store theirs in the same
    /// folder.
    fn store(&self, mail: &[u8]) -> io::Result<()> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let mut number = *count;
        loop {
            number += 1;
            match File::create_new(self.folder.join(format!("{number:04}.eml"))) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => {
                    file?.write_all(mail)?;
                    *count = number;
                    return Ok(());
                }
            }
        }
    }
}

fn serve(stream: &TcpStream, inbox: impl Handler) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut answers = BufWriter::new(stream);
    let mut session =
        SessionBuilder::new("mail.agent.example").build(stream.peer_addr()?.ip(), inbox);
    let mut answer = session.greeting();
    loop {
        if answer.action != Action::NoReply {
            answer.write_to(&mut answers)?;
            answers.flush()?;
        }
        let mut line = Vec::new();
        if answer.action == Action::Close || lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        answer = session.process(&line);
    }
}

/// The mail of one session.
struct Inbox<P> {
    kept: Arc<Kept>,
    policy: Arc<P>,
    mail: Vec<u8>,
}

impl<P: Fn(Step<'_>) -> Response> Handler for Inbox<P> {
    fn rcpt(&mut self, to: &str) -> Response {
        (self.policy)(Step::Recipient(to))
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.mail.extend_from_slice(bytes);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        if self.kept.store(&self.mail).is_err() {
            return response::INTERNAL_ERROR;
        }
        (self.policy)(Step::Stored(&std::mem::take(&mut self.mail)))
    }
}

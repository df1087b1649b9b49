//! A real SMTP server on loopback that stores the mails it receives.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use mailin::{Action, Handler, Response, SessionBuilder, response};

/// What a server accepts. The defaults accept every mail.
pub trait Policy: Send + Sync + 'static {
    /// Whether to accept a mail for this recipient.
    fn recipient(&self, _to: &str) -> Response {
        response::OK
    }

    /// The response after a mail was received and stored.
    fn received(&self) -> Response {
        response::OK
    }
}

/// Accepts every mail.
#[derive(Debug)]
pub struct TakeAll;

impl Policy for TakeAll {}

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
    /// Listens on a free port of the loopback address and stores mails as files in `folder`.
    pub fn start(folder: &Path, policy: impl Policy) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let count = std::fs::read_dir(folder)?.count();
        let kept = Arc::new(Kept { folder: folder.to_owned(), count: Mutex::new(count) });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let policy: Arc<dyn Policy> = Arc::new(policy);
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let inbox =
                    Inbox { kept: Arc::clone(&shared), policy: Arc::clone(&policy), mail: vec![] };
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

fn serve(stream: &TcpStream, inbox: Inbox) -> io::Result<()> {
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
struct Inbox {
    kept: Arc<Kept>,
    policy: Arc<dyn Policy>,
    mail: Vec<u8>,
}

impl Handler for Inbox {
    fn rcpt(&mut self, to: &str) -> Response {
        self.policy.recipient(to)
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.mail.extend_from_slice(bytes);
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        let mut count = self.kept.count.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.kept.folder.join(format!("{:04}.eml", *count + 1));
        if std::fs::write(file, std::mem::take(&mut self.mail)).is_err() {
            return response::INTERNAL_ERROR;
        }
        *count += 1;
        drop(count);
        self.policy.received()
    }
}

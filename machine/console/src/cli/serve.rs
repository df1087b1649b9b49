use std::{
    fs,
    future::pending,
    io::{self, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::{
    net::TcpListener,
    runtime::{self, Runtime},
};

use super::{Context, Error, Exit, terminal};
use crate::http::{Access, Http, serve};
use machine::{
    actor::Human,
    text::{OneLine, shortened},
};

/// `serve`: the views and decisions over HTTP, and the inspector page.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// The database; the same as `--db`.
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// The address to listen on. If other computers can reach it, every request needs a token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// The person who decides in the page. The printed address contains a token for this run, so do
    /// not share it.
    #[arg(long = "as", value_name = "NAME", value_parser = Human::new)]
    by: Option<Human>,
    /// A file with a line for each token: `operator NAME TOKEN`, or `reader NAME TOKEN`.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// A host name of this server, such as `agents.example.com`, without scheme and port;
    /// repeatable.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Require a token for reading, even on this computer.
    #[arg(long)]
    tokens_only: bool,
}

impl Serve {
    pub(super) async fn run(mut self, context: &Context) -> Result<Exit, Error> {
        let (access, token) = self.access()?;
        let store =
            if access.can_write() { context.write().await? } else { context.read().await? };
        let mut http = Http::new(&store, Arc::clone(&context.actors))
            .access(access)
            .language(context.language)
            .command(context.command())
            .database(context.database());
        for host in self.hosts.drain(..) {
            let with = http.host(host);
            http = with.map_err(|error| Error::usage(format!("`--host`: {error}")))?;
        }
        // The commands need no runtime; a server does.
        let mut builder = runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("machine-http").enable_all().build()?;
        let served = self.serve(&runtime, http, token.as_deref()).await;
        // This may be inside of another runtime, where dropping one would panic.
        runtime.shutdown_background();
        served?;
        match store.close().await {
            // Another process has the file locked. Nothing is lost by that.
            Err(error) if error.is_busy() => Ok(Exit::Done),
            closed => closed.map(|()| Exit::Done).map_err(Error::from),
        }
    }

    /// Serves until a signal comes.
    async fn serve(&self, runtime: &Runtime, http: Http, token: Option<&str>) -> Result<(), Error> {
        let listen = self.listen;
        let ended = |_| Error::refused("the server has ended");
        let bound = runtime.spawn(TcpListener::bind(listen)).await.map_err(ended)?;
        let listener = bound.map_err(|error| {
            Error::refused(format!(
                "cannot listen on {listen}: {error}; choose another address with `--listen`"
            ))
        })?;
        let stopped = {
            let _inside = runtime.enter();
            stopped()
        };
        let hint = match (token, &self.tokens) {
            (Some(token), _) => format!("#token={token}"),
            (None, Some(_)) => "\nSign in there with a token.".to_owned(),
            (None, None) => "\nThe page is read-only; `--as NAME` lets you decide.".to_owned(),
        };
        let address = listener.local_addr()?;
        let served = runtime.spawn(serve(listener, http, stopped));
        // In one write: who reads the first line may close the output.
        terminal::print(&format!("http://{address}/inspector/{hint}\nCtrl-C stops it.\n"))?;
        Ok(served.await.map_err(ended)??)
    }

    /// The rights of callers, and the token of the person who starts the server.
    fn access(&self) -> Result<(Access, Option<String>), Error> {
        let mut access = Access::new();
        if let Some(file) = &self.tokens {
            let shown = OneLine(&file.display().to_string()).to_string();
            let text = fs::read_to_string(file).map_err(|error| {
                Error::usage(format!("cannot read the file of tokens {shown}: {error}"))
            })?;
            warn_of_readers(file, &shown);
            for (number, line) in text.lines().enumerate() {
                access = with_line(access, line)
                    .map_err(|error| error.at(format_args!("{shown}, line {}", number + 1)))?;
            }
        }
        let token = match &self.by {
            Some(by) => {
                let token = random()?;
                access = access
                    .operator(by.clone(), &token)
                    .map_err(|error| Error::refused(error.to_string()))?;
                Some(token)
            }
            None => None,
        };
        let is_local = self.listen.ip().to_canonical().is_loopback();
        if !is_local && access.is_empty() {
            return Err(Error::usage(
                "other computers reach this address, so everything needs a token; pass `--as NAME`, or \
                 `--tokens FILE`",
            ));
        }
        if self.tokens_only || !is_local {
            access = access.tokens_only();
        }
        Ok((access, token))
    }
}

/// Waits for Ctrl-C or SIGTERM, which from now on no longer end the process at once, also in a
/// program that a shell has started with Ctrl-C ignored. The end of the terminal is left to the
/// system, because `nohup` has it ignored. Where this fails, the signals end the process as before.
#[cfg(unix)]
fn stopped() -> impl Future<Output = ()> {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    async fn came(signal: io::Result<Signal>) {
        match signal {
            Ok(mut signal) => _ = signal.recv().await,
            Err(_) => pending().await,
        }
    }

    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        tokio::select! {
            () = came(interrupt) => {}
            () = came(terminate) => {}
        }
    }
}

#[cfg(not(unix))]
async fn stopped() {
    if tokio::signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

/// Text of 256 random bits.
fn random() -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::refused(format!("the random number generator of the system failed: {error}"))
    })?;
    Ok(blake3::Hash::from(bytes).to_hex().to_string())
}

/// Anyone who can read a token can decide under the name that belongs to it.
#[cfg(unix)]
fn warn_of_readers(file: &Path, shown: &str) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(known) = fs::metadata(file) else { return };
    if known.is_file() && known.permissions().mode() & 0o077 != 0 {
        // The output may be closed.
        let _ = writeln!(
            io::stderr(),
            "warning: other users of this computer can read or write the tokens in {shown}; \
             `chmod 600` keeps them from that"
        );
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_file: &Path, _shown: &str) {}

/// With the token of one line: a role, a name, which may have spaces, and the token.
fn with_line(access: Access, line: &str) -> Result<Access, Error> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(access);
    }
    let parts = line.split_once(' ').and_then(|(role, rest)| {
        let (name, token) = rest.rsplit_once(' ')?;
        Some((role, name.trim(), token))
    });
    let Some((role, name, token)) = parts else {
        return Err(Error::usage("it has `operator NAME TOKEN`, or `reader NAME TOKEN`"));
    };
    let person = Human::new(name).map_err(|error| Error::usage(error.to_string()))?;
    let with = match role {
        "operator" => access.operator(person, token),
        "reader" => access.reader(person, token),
        other => {
            let other = shortened(other);
            return Err(Error::usage(format!("`{other}` is not a role; use operator or reader")));
        }
    };
    with.map_err(|error| Error::usage(error.to_string()))
}

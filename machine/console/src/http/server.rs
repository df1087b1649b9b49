use std::{future::Future, io, time::Duration};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::net::TcpListener;
use tower_service::Service;

use super::Http;

/// The longest time for the headers of a request.
const HEADERS: Duration = Duration::from_secs(10);

/// The time for open requests when the server stops: longer than a write waits for a locked file,
/// so that it gets its answer.
const GRACE: Duration = Duration::from_secs(7);

/// The pause when no connection can be accepted, such as without file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the routes until `stop` completes. Streams end then; other requests have seven seconds.
///
/// ```no_run
/// use machine::actor::Actors;
/// use machine_console::http::{Http, serve};
/// use machine::store::Store;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::sqlite("agent.db").await?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:7878").await?;
/// let stop = async { drop(tokio::signal::ctrl_c().await) };
/// serve(listener, Http::new(&store, Actors::issue("inspector")?), stop).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`io::Error`] if the listener has no address.
pub async fn serve(
    listener: TcpListener,
    http: Http,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    listener.local_addr()?;
    let (router, feed) = http.into_parts();
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS);
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => {
                let Ok(accepted) = accepted else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                accepted
            }
            () = &mut stop => break,
        };
        let router = router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().call(request)
        });
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        // A client that goes away is not an error.
        tokio::spawn(async move { drop(connection.await) });
    }
    drop(listener);
    feed.close();
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    Ok(())
}

//! Chromium, driven by chromedriver. Both are started here and end with the test.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, WebDriver};
use tokio::{sync::Mutex, time::sleep};

use crate::{page::Page, site::Site, skipped};

/// One browser at a time: two cores are not enough for more.
static ONE: Mutex<()> = Mutex::const_new(());

const ARGUMENTS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
];

/// Gives a test a browser and a site; both are gone afterwards, also if it fails.
pub(crate) async fn browse<F>(test: impl FnOnce(Arc<Page>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    browse_file("agent.db", test).await;
}

/// Runs a test in a browser, with a look at the files of the browser when it has ended.
pub(crate) async fn browse_and_look<F>(test: impl FnOnce(Arc<Page>) -> F, look: impl FnOnce(&Path))
where
    F: Future<Output = ()> + Send + 'static,
{
    browse_with("agent.db", test, look).await;
}

/// Runs a test in a browser on a store in a file of this name.
pub(crate) async fn browse_file<F>(name: &str, test: impl FnOnce(Arc<Page>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    browse_with(name, test, |_| ()).await;
}

async fn browse_with<F>(name: &str, test: impl FnOnce(Arc<Page>) -> F, look: impl FnOnce(&Path))
where
    F: Future<Output = ()> + Send + 'static,
{
    let _one = ONE.lock().await;
    let Some(mut driver) = Driver::start() else {
        return skipped("needs chromium and chromedriver");
    };
    let site = Site::open(name).await;
    let browser = driver.browser().await;
    let page = Arc::new(Page::new(browser.clone(), site));
    let ended = tokio::spawn(test(Arc::clone(&page))).await;
    let quit = browser.quit().await;
    driver.process.kill().unwrap();
    driver.process.wait().unwrap();
    if let Err(error) = ended {
        std::panic::resume_unwind(error.into_panic());
    }
    quit.unwrap();
    look(driver.profile.path());
}

struct Driver {
    process: Child,
    port: u16,
    profile: TempDir,
}

impl Driver {
    /// `None` without the programs.
    fn start() -> Option<Self> {
        let mut chromium = Command::new("chromium");
        chromium.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        if !chromium.status().is_ok_and(|status| status.success()) {
            return None;
        }
        // Another program could take the port in between; then the driver ends, and the test fails.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().ok()?;
        Some(Self { process, port, profile: TempDir::new().unwrap() })
    }

    async fn browser(&mut self) -> WebDriver {
        let mut wanted = DesiredCapabilities::chrome();
        for argument in ARGUMENTS {
            wanted.add_arg(argument).unwrap();
        }
        let profile = self.profile.path().display();
        wanted.add_arg(&format!("--user-data-dir={profile}")).unwrap();
        let address = format!("http://127.0.0.1:{}", self.port);
        for _ in 0..100 {
            assert!(self.process.try_wait().unwrap().is_none(), "chromedriver has ended");
            match tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await {
                Ok(_) => return WebDriver::new(&address, wanted).await.unwrap(),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
        panic!("chromedriver does not listen");
    }
}

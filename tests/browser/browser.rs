//! Chromium, driven by chromedriver. A browser is for one test; the driver is for all, and ends with this program.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
};

use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, WebDriver};
use tokio::sync::Mutex;

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
    let Some(driver) = DRIVER.get_or_init(Driver::start) else {
        return skipped("needs chromium and chromedriver");
    };
    let site = Site::open(name).await;
    let profile = TempDir::new().unwrap();
    let browser = driver.browser(profile.path()).await;
    let page = Arc::new(Page::new(browser.clone(), site));
    let ended = tokio::spawn(test(Arc::clone(&page))).await;
    let quit = browser.quit().await;
    if let Err(error) = ended {
        std::panic::resume_unwind(error.into_panic());
    }
    quit.unwrap();
    look(profile.path());
}

/// One for all tests.
static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();

struct Driver {
    port: u16,
    /// The driver ends when this is closed, which happens at the end of this process.
    _shell: Child,
}

impl Driver {
    /// `None` without the programs.
    fn start() -> Option<Self> {
        let mut chromium = Command::new("chromium");
        chromium.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        if !chromium.status().is_ok_and(|status| status.success()) {
            return None;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", "chromedriver --port=0 2>/dev/null & read line; kill $!"]);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut lines = BufReader::new(shell.stdout.take()?).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        })?;
        // It must not block on what it prints later.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { port, _shell: shell })
    }

    async fn browser(&self, profile: &Path) -> WebDriver {
        let mut wanted = DesiredCapabilities::chrome();
        for argument in ARGUMENTS {
            wanted.add_arg(argument).unwrap();
        }
        wanted.add_arg(&format!("--user-data-dir={}", profile.display())).unwrap();
        WebDriver::new(&format!("http://127.0.0.1:{}", self.port), wanted).await.unwrap()
    }
}

//! Chromium, driven by chromedriver. Both are for all tests and end with this program. A test has a
//! tab of its own.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
};

use thirtyfour::{ChromeCapabilities, ChromiumLikeCapabilities, DesiredCapabilities, WebDriver};
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

/// Gives a test a tab of the browser and a site; both are gone afterwards, also if it fails.
pub(crate) async fn browse<F>(test: impl FnOnce(Arc<Page>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    browse_file("agent.db", test).await;
}

/// Runs a test in a tab of the browser, on a store in a file of this name.
pub(crate) async fn browse_file<F>(name: &str, test: impl FnOnce(Arc<Page>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let _one = ONE.lock().await;
    if let Some(driver) = Driver::get() {
        run(driver.tab().await, name, test).await;
    }
}

async fn run<F>(browser: WebDriver, name: &str, test: impl FnOnce(Arc<Page>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let page = Arc::new(Page::new(browser.clone(), Site::open(name).await));
    let ended = tokio::spawn(test(Arc::clone(&page))).await;
    let quit = browser.quit().await;
    if let Err(error) = ended {
        std::panic::resume_unwind(error.into_panic());
    }
    quit.unwrap();
}

/// One for all tests.
static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();

struct Driver {
    port: u16,
    /// The address of the common browser, for its driver.
    browser: String,
    _programs: [Program; 2],
}

impl Driver {
    /// `None`, and a line that says so, without the programs.
    fn get() -> Option<&'static Self> {
        let driver = DRIVER.get_or_init(Self::start).as_ref();
        if driver.is_none() {
            skipped("needs chromium and chromedriver");
        }
        driver
    }

    fn start() -> Option<Self> {
        let driver = Program::start("chromedriver --port=0", "started successfully on port ")?;
        let browser = format!(
            "chromium {} --remote-debugging-port=0 --user-data-dir=\"$folder\"",
            ARGUMENTS.join(" ")
        );
        let browser = Program::start(&browser, "DevTools listening on ws://")?;
        Some(Self {
            port: driver.said.trim_end_matches('.').parse().ok()?,
            browser: browser.said.split('/').next()?.to_owned(),
            _programs: [driver, browser],
        })
    }

    /// The only tab of the common browser. Each site has an address of its own, for which the
    /// browser keeps nothing yet.
    async fn tab(&self) -> WebDriver {
        let mut wanted = DesiredCapabilities::chrome();
        wanted.set_debugger_address(&self.browser).unwrap();
        let driver = self.session(wanted).await;
        let earlier = driver.windows().await.unwrap();
        let tab = driver.new_tab().await.unwrap();
        for window in earlier {
            driver.switch_to_window(window).await.unwrap();
            driver.close_window().await.unwrap();
        }
        driver.switch_to_window(tab).await.unwrap();
        driver
    }

    async fn session(&self, wanted: ChromeCapabilities) -> WebDriver {
        WebDriver::new(&format!("http://127.0.0.1:{}", self.port), wanted).await.unwrap()
    }
}

/// A program that ends when its shell's input is closed, which happens at the end of this process.
struct Program {
    /// What it said after the text that was waited for.
    said: String,
    _shell: Child,
}

impl Program {
    /// `None` if it ends without a line that has this text.
    fn start(command: &str, text: &str) -> Option<Self> {
        // Only the program has the output, so that it ends with the program. What is written while
        // it ends is removed, too.
        let script = format!(
            "folder=$(mktemp -d)
             {command} 2>&1 &
             exec >/dev/null
             read -r line
             kill $!
             wait
             rm -rf \"$folder\" || rm -rf \"$folder\""
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().ok()?;
        let mut lines = BufReader::new(shell.stdout.take()?).lines().map_while(Result::ok);
        let said = lines.find_map(|line| Some(line.split_once(text)?.1.to_owned()))?;
        // It must not block on what it prints later.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { said, _shell: shell })
    }
}

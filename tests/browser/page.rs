//! The page in the browser, as a test sees it.

use std::time::{Duration, Instant};

use machine_tests::STUCK;
use serde_json::{Value, json};
use thirtyfour::{By, TypingData, WebDriver, WebElement, error::WebDriverErrorInner};
use tokio::time::sleep;

use crate::site::Site;

pub(crate) struct Page {
    pub(crate) driver: WebDriver,
    pub(crate) site: Site,
}

impl Page {
    pub(crate) fn new(driver: WebDriver, site: Site) -> Self {
        Self { driver, site }
    }

    pub(crate) fn url(&self, fragment: &str) -> String {
        format!("http://{}/inspector/{fragment}", self.site.address)
    }

    /// Opens the page with the token of an operator, at an address such as `#/approvals`.
    pub(crate) async fn open_as(&self, token: &str, fragment: &str) {
        // Violations of the policy are counted from the first moment.
        let source = "window.violations = []; addEventListener('securitypolicyviolation', \
            (event) => window.violations.push(event.effectiveDirective), true);";
        self.send("Page.enable", json!({})).await;
        self.send("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await;
        self.follow(token).await;
        self.until("the token to be taken", "return document.body.innerText.includes('As ')").await;
        self.go(fragment).await;
    }

    /// Follows a sign-in link.
    pub(crate) async fn follow(&self, token: &str) {
        self.driver.goto(self.url(&format!("#token={token}"))).await.unwrap();
    }

    /// Goes to an address such as `#/approvals`, also if the page is there already, and waits until
    /// the page has rendered it and is live.
    pub(crate) async fn go(&self, fragment: &str) {
        // The page is busy from its own listener, which is called before this one, until it has
        // rendered the address. A new document has no `arrived`.
        self.run(
            "window.arrived = false; \
             addEventListener('popstate', () => window.arrived = true, { once: true })",
        )
        .await;
        self.driver.goto(self.url(fragment)).await.unwrap();
        self.until(
            "the page to be loaded",
            "return window.arrived !== false \
                && document.querySelector('main:not([aria-busy]) h1') !== null \
                && document.querySelector('.stream.live') !== null",
        )
        .await;
    }

    /// Runs a script and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.driver.execute(script, Vec::new()).await.unwrap().json().clone()
    }

    /// Waits until a script returns something true.
    pub(crate) async fn until(&self, what: &str, script: &str) {
        let begun = Instant::now();
        while self.run(script).await != true {
            if begun.elapsed() > STUCK {
                let shown = self.run("return document.body.innerText").await;
                panic!("waited in vain for {what}; the page says:\n{}", shown.as_str().unwrap());
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the main part contains this text.
    pub(crate) async fn shows(&self, text: &str) {
        let script = format!(
            "return document.querySelector('main').innerText.toLowerCase().includes({})",
            json!(text.to_lowercase())
        );
        self.until(text, &script).await;
    }

    /// Waits until the text of the first element contains this.
    pub(crate) async fn holds(&self, css: &str, text: &str) {
        // A drawing has no `innerText`.
        let script = format!(
            "const it = document.querySelector({}); \
             return [it?.innerText, it?.textContent].some((all) => all?.includes({}))",
            json!(css),
            json!(text)
        );
        self.until(text, &script).await;
    }

    /// Waits until the text of the first element is this.
    pub(crate) async fn is(&self, css: &str, text: &str) {
        let found = format!("return document.querySelector({})?.innerText", json!(css));
        self.until(text, &format!("{found} === {}", json!(text))).await;
    }

    /// Waits until there are so many elements.
    pub(crate) async fn has(&self, css: &str, count: usize) {
        let found = format!("return document.querySelectorAll({}).length", json!(css));
        self.until(css, &format!("{found} === {count}")).await;
    }

    /// The text of the first element.
    pub(crate) async fn text(&self, css: &str) -> String {
        // Found and read in one step: an update may replace the element. A drawing has no
        // `innerText`.
        let script = format!(
            "const it = document.querySelector({}); return it?.innerText ?? it?.textContent ?? null",
            json!(css)
        );
        loop {
            self.find(css).await;
            if let Value::String(text) = self.run(&script).await {
                return text;
            }
        }
    }

    /// The text of the dialog, once it is open.
    pub(crate) async fn dialog(&self) -> String {
        self.text("dialog[open]").await
    }

    pub(crate) async fn find(&self, css: &str) -> WebElement {
        self.until(css, &format!("return document.querySelector({}) !== null", json!(css))).await;
        self.driver.find(By::Css(css)).await.unwrap()
    }

    pub(crate) async fn count(&self, css: &str) -> u64 {
        let script = format!("return document.querySelectorAll({}).length", json!(css));
        self.run(&script).await.as_u64().unwrap()
    }

    /// Clicks with the pointer, as a person does.
    pub(crate) async fn click(&self, css: &str) {
        while let Err(error) = self.find(css).await.click().await {
            // An update has replaced it in between.
            assert!(
                matches!(*error, WebDriverErrorInner::StaleElementReference(_)),
                "{css}: {error}"
            );
        }
    }

    /// Answers the open dialog, which ignores what comes in its first half second.
    pub(crate) async fn answer_dialog(&self) {
        sleep(Duration::from_millis(600)).await;
        self.click("dialog button[type=submit]").await;
    }

    /// Presses keys, wherever the focus is.
    pub(crate) async fn press(&self, keys: impl Into<TypingData>) {
        self.driver.action_chain().send_keys(keys).perform().await.unwrap();
    }

    /// Opens all that is folded.
    pub(crate) async fn unfold(&self) {
        self.run("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
            .await;
    }

    /// Sends a command of the `DevTools` protocol.
    pub(crate) async fn send(&self, command: &str, parameters: Value) {
        self.driver.cdp().send_raw(command, parameters).await.unwrap();
    }
}

//! The command that a dialog shows does what its button does: each pair of equal machines gets one
//! of them.

use std::{
    env,
    os::unix::fs::symlink,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use machine::{
    Id,
    actor::{Actors, Human},
    contract::NoReceipt,
    store::Message,
    worker::Worker,
};
use machine_tests::samples::asked;
use serde_json::{Value, json};

use crate::{
    browser::browse_file,
    mail::{Server, rest, work},
    messages::AnyClaim,
    page::Page,
    site::{ODD, ODD_NAME},
};

const FILE: &str = "it's $(touch hacked) \"one\".db";
/// The number of mails so far.
static MAILS: AtomicU32 = AtomicU32::new(0);

const HOSTILE: &str =
    "it's \"$(touch hacked)\" `touch hacked`; touch hacked # \\n %d !! $HOME\u{202e}\u{1b}[201~\tü";

/// The state and history of a machine and its operator log, without ids and times.
const STORY: &str = r"
    const get = async (path) =>
        (await fetch(path, { headers: { Authorization: `Bearer ${TOKEN}` } })).json();
    const shown = await get(`/api/machines/${ID}?audience=internal`);
    const timeline = await get(`/api/machines/${ID}/timeline?audience=internal`);
    const log = await get('/api/operations?limit=100');
    const { state, label } = shown.machine;
    const story = {
        label, state,
        result: shown.execution?.result, error: shown.execution?.error_message,
        messages: shown.messages.map(({ trigger, status, actor, actor_name, body }) =>
            ({ trigger, status, actor, actor_name, body })),
        events: timeline.events.map(({ actor_name, text, payload, data, fact }) =>
            ({ actor_name, text, payload, data, fact })),
        log: log.operations.filter((one) => one.machines.includes(ID))
            .map(({ by, operation, detail, outcome }) => ({ by, operation, detail, outcome })),
    };
    return JSON.stringify(story, null, 1)
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID').replaceAll(/\d{13}/g, 'TIME')
        .replaceAll(/bob\d+/g, 'bob').replaceAll(/[0-9a-f]{64}/g, 'DIGEST');
";

impl Page {
    async fn story(&self, id: Id) -> String {
        let script = STORY.replace("TOKEN", &json!(ODD).to_string()).replace("ID", "id");
        let script = format!("const id = '{id}'; return (async () => {{ {script} }})()");
        self.run(&script).await.as_str().unwrap().to_owned()
    }

    /// Opens a dialog of the machine, and types.
    async fn begin(&self, id: Id, button: &str, fields: &Value) {
        self.go(&format!("#/machines/{id}")).await;
        let script = format!(
            "const button = [...document.querySelectorAll('#next .actions button')] \
                 .find((one) => one.textContent.startsWith({})); \
             button?.click(); return button !== undefined",
            json!(button)
        );
        self.until(button, &script).await;
        self.find("dialog[open]").await;
        self.fill(fields).await;
    }

    /// Fills the fields of the dialog.
    async fn fill(&self, fields: &Value) {
        let script = format!(
            "for (const [css, value] of Object.entries({fields})) {{ \
                 const field = document.querySelector(`dialog ${{css}}`); \
                 if (value === true) {{ field.click(); continue; }} \
                 field.value = value; \
                 field.dispatchEvent(new Event('input', {{ bubbles: true }})); }}"
        );
        self.run(&script).await;
    }

    /// Presses the button of the dialog that copies its command.
    async fn copied(&self) -> String {
        self.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }").await;
        self.click("dialog .command button").await;
        self.until("the command", "return typeof window.copied === 'string'").await;
        let command = self.run("return window.copied").await;
        self.run("delete window.copied; document.querySelector('dialog').close()").await;
        command.as_str().unwrap().to_owned()
    }

    /// Runs a command in a shell, in the folder of the file.
    async fn shell(&self, command: &str) -> std::process::Output {
        let folder = self.site.folder.path();
        let bin = folder.join("bin");
        if !bin.exists() {
            std::fs::create_dir(&bin).unwrap();
            symlink(env!("CARGO_BIN_EXE_machine-cli"), bin.join("machine")).unwrap();
        }
        let path = format!("{}:{}", bin.display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(folder).env("PATH", path).stdin(Stdio::null());
        tokio::task::spawn_blocking(move || shell.output().unwrap()).await.unwrap()
    }

    /// Does the same to two equal machines: with the button, and with the command.
    async fn both(&self, machines: [Id; 2], button: &str, fields: Value) {
        let [pressed, commanded] = machines;
        self.begin(pressed, button, &fields).await;
        self.answer_dialog().await;
        self.has("dialog[open]", 0).await;
        self.begin(commanded, button, &fields).await;
        let command = self.copied().await;
        // There is no one left to ask.
        let asks =
            ["Approve", "Decline", "Confirm", "Retry"].iter().any(|it| button.starts_with(it));
        let command = if asks { format!("{command} --yes") } else { command };
        let output = self.shell(&command).await;
        assert!(output.status.success(), "{command}\n{output:?}");
        assert_eq!(self.story(pressed).await, self.story(commanded).await, "{command}");
        assert!(self.story(pressed).await.contains(ODD_NAME), "{command}");
        assert!(!self.site.folder.path().join("hacked").exists(), "{command}");
    }

    async fn asked(&self) -> [Id; 2] {
        [self.site.ask("bob@example.com").await.0, self.site.ask("bob@example.com").await.0]
    }

    /// Mails that ended in this way. Equal ones would have one key.
    async fn sent(&self, server: Server) -> [Id; 2] {
        let mut mails = Vec::new();
        for _ in 0..2 {
            let number = MAILS.fetch_add(1, Ordering::Relaxed);
            let to = format!("bob{number}@example.com");
            let (gate, mail) = self.site.ask(&to).await;
            self.site.approve(gate, "tom").await;
            mails.push(mail);
        }
        work(&self.site.store, server).await;
        mails.try_into().unwrap()
    }

    async fn questions(&self) -> [Id; 2] {
        let mut questions = [asked("Which room?"), asked("Which room?")];
        for question in &mut questions {
            self.site.store.create(question).await.unwrap();
        }
        questions.map(|question| question.id())
    }

    /// Claims that workers have set aside, each with a message.
    async fn set_aside(&self) -> [Id; 2] {
        let claims = self.claims().await;
        for id in claims {
            let bad = r#"{"trigger": "settle", "cents": "none", "note": ""}"#;
            let bad = Message::from_json(bad, &Human::new("tom").unwrap()).unwrap();
            let bad = bad.with_correlation("-it's $(touch hacked)").unwrap();
            self.site.store.send(id, &bad).await.unwrap();
        }
        let actors = Actors::issue("claims").unwrap();
        rest(Worker::new(&self.site.store, actors).attempts(1).machine::<AnyClaim>()).await;
        claims
    }

    async fn claims(&self) -> [Id; 2] {
        [self.site.claim().await, self.site.claim().await]
    }
}

#[tokio::test]
async fn the_command_of_each_dialog_does_what_its_button_does() {
    browse_file(FILE, async |page| {
        page.open_as(ODD, "#/").await;
        let name = page.text("header .brand .data").await;
        assert_eq!(name, FILE);
        assert!(page.driver.title().await.unwrap().ends_with(FILE));
        page.both(page.asked().await, "Approve", json!({})).await;
        page.both(page.asked().await, "Decline", json!({})).await;
        for reason in [HOSTILE, "-rf", "--yes"] {
            page.both(page.asked().await, "Decline", json!({ "[name=reason]": reason })).await;
        }
        let unknown = || Server(|_| Err(NoReceipt::unknown("the line went dead")));
        let applied = json!({ "[value=true]": true, "[name=receipt]": HOSTILE });
        page.both(page.sent(unknown()).await, "Confirm the", applied).await;
        let not =
            json!({ "[value=false]": true, "[name=reason]": HOSTILE, "[name=override]": true });
        page.both(page.sent(unknown()).await, "Confirm the", not).await;
        let refused = Server(|_| Err(NoReceipt::not_applied("554 no mail today")));
        page.both(page.sent(refused).await, "Retry", json!({})).await;
        page.both(page.questions().await, "Cancel", json!({ "[name=reason]": HOSTILE })).await;
        for answer in [HOSTILE, "-5", "two\nlines\n"] {
            page.both(page.questions().await, "Answer", json!({ "[name=response]": answer })).await;
        }
        let event = json!({
            "[name='value cents']": "1700",
            "[name='value note']": HOSTILE,
        });
        page.both(page.claims().await, "Send settle", event).await;
        let [aside, _] = page.set_aside().await;
        // Without its message there is nothing to retry, and the dialog reports it.
        page.begin(aside, "Try again", &json!({ "[name=message]": true })).await;
        page.answer_dialog().await;
        page.holds("dialog", "were set aside; name them").await;
        page.both(page.set_aside().await, "Try again", json!({})).await;
    })
    .await;
}

#[tokio::test]
async fn the_command_for_several_gates_has_all_of_them() {
    browse_file(FILE, async |page| {
        let gates = page.asked().await;
        let other = page.site.ask("eve@example.com").await.0;
        page.open_as(ODD, "#/approvals").await;
        page.click("li:nth-child(1) input[type=checkbox]").await;
        page.click("li:nth-child(2) input[type=checkbox]").await;
        page.click(".bulk button:nth-of-type(2)").await;
        page.fill(&json!({ "[name=reason]": HOSTILE })).await;
        let command = page.copied().await;
        let output = page.shell(&format!("{command} --yes")).await;
        assert!(output.status.success(), "{command}\n{output:?}");
        for (gate, status) in [(gates[0], "rejected"), (gates[1], "rejected"), (other, "waiting")] {
            assert_eq!(page.site.status(gate).await, status);
        }
    })
    .await;
}

#[tokio::test]
async fn a_command_with_a_gap_is_refused() {
    browse_file(FILE, async |page| {
        let [question, _] = page.questions().await;
        let [claim, _] = page.claims().await;
        let (_, mail) = page.site.ask("bob@example.com").await;
        page.open_as(ODD, "#/").await;
        page.begin(question, "Answer", &json!({})).await;
        let answer = page.copied().await;
        page.begin(claim, "Send settle", &json!({ "[name='value note']": "it's" })).await;
        let event = page.copied().await;
        assert!(event.contains("--seen 0"), "{event}");
        assert!(event.contains(r#"{"cents": "<u32>", "note": "it'\''s"}"#), "{event}");
        for command in [answer, event] {
            let output = page.shell(&command).await;
            assert!(!output.status.success(), "{command}\n{output:?}");
        }
        assert_eq!(page.site.status(question).await, "waiting");
        assert!(page.site.store.inbox(claim).await.unwrap().is_empty());
        // Nor is an empty field sent by the button.
        page.begin(claim, "Send settle", &json!({ "[name='value note']": "it's" })).await;
        page.answer_dialog().await;
        assert!(page.text("dialog .warning").await.contains("“cents” is empty"));
        assert_eq!(page.site.status(mail).await, "pending");
    })
    .await;
}

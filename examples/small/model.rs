//! A model behind a chat API. Asking it can be repeated, so a worker tries again after 429, a
//! stream that is cut or a timeout. The answer is stored: whatever happens later, the model is not
//! asked again.

use std::time::Duration;

use machine::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    #[initial]
    #[invoke(question: Ask = Ask { text }, done = answered, failed = unanswered)]
    #[on(answered(answer) => Answered)]
    #[on(unanswered(why) => Waiting)]
    Asking { text: String },
    /// After several attempts.
    #[on(again => Asking, by = GraphRunner, after = Duration::from_mins(1))]
    Waiting { text: String, why: CallError },
    #[terminal]
    Answered { answer: String },
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(model.ask, idempotent)]
struct Ask {
    text: String,
}

#[derive(Clone)]
struct Model {
    client: ureq::Agent,
    url: String,
}

impl Model {
    /// It gives up after this time without a byte.
    fn new(url: String, patience: Duration) -> Self {
        let config = ureq::Agent::config_builder().timeout_per_read(Some(patience)).build();
        Self { client: config.new_agent(), url }
    }

    /// Blocks. Each `?` means that there is no answer, and a worker tries again.
    fn ask(&self, text: &str) -> Answer {
        let messages = json!([{ "role": "user", "content": text }]);
        let body = json!({ "model": "small", "messages": messages }).to_string();
        let request = self.client.post(self.url.as_str()).content_type("application/json");
        let reply = request.send(body)?.body_mut().read_to_string()?;
        let reply: Value = serde_json::from_str(&reply)?;
        let answer = reply.pointer("/choices/0/message/content").and_then(Value::as_str);
        answer.map(Applied::new).ok_or_else(|| NoReceipt::unknown("the reply has no content"))
    }
}

impl Perform<Ask> for Model {
    async fn perform(&self, call: &Call<Ask>) -> Answer {
        let (model, text) = (self.clone(), call.arguments.text.clone());
        tokio::task::spawn_blocking(move || model.ask(&text)).await?
    }
}

#[cfg(test)]
mod tests {
    use machine::testing::TestEnvironment;

    use super::*;
    use crate::server;

    #[tokio::test(start_paused = true)]
    async fn it_is_asked_until_it_answers() {
        let model = Model::new(server::start(), Duration::from_millis(200));
        let desk =
            TestEnvironment::new(move |worker| worker.machine::<AnyQuestion>().tool(model.clone()));
        let id = desk.create(Question::new("Why is the sky blue?".to_owned())).await;
        desk.run_until_idle().await;
        assert_eq!(desk.load::<AnyQuestion>(id).await.status(), question::Status::Waiting);

        // On a slow computer, good answers come too late as well.
        let answered = loop {
            desk.advance(Duration::from_mins(1)).await;
            desk.run_until_idle().await;
            if let AnyQuestion::Answered(question) = desk.load(id).await {
                break question;
            }
        };
        assert_eq!(answered.state().answer, "It scatters light.");
        assert_eq!(desk.failures(), Vec::<String>::new());
    }
}

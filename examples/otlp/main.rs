//! Traces of a workflow on a worker, sent over OTLP. `otlp FILE 17 500` places the order 17 in
//! `FILE`, and a worker pays 500 cents for it; the spans go to `OTEL_EXPORTER_OTLP_ENDPOINT`, by
//! default a collector at `http://localhost:4318`.
//!
//! ```sh
//! docker run --publish 4318:4318 --publish 16686:16686 jaegertracing/jaeger
//! cargo run --package examples --features otlp --bin otlp -- order.db 17 500
//! ```
//!
//! Then look at `http://localhost:16686`. `RUST_LOG` selects spans and events; `machine=debug` adds
//! the commits.

use std::{env, time::Duration};

use anyhow::Context;
use machine::prelude::*;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use serde::{Deserialize, Serialize};
use tracing::Instrument;
use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[invoke(charge, session = charge.order, unattended, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
}

/// The irreversible action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, identity = order)]
struct Charge {
    order: String,
    cents: u32,
}

/// A bank that refuses large amounts.
struct Bank;

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Answer {
        let Charge { order, cents } = &call.arguments;
        // A span of the tool's own, such as that of an HTTP client. It is a child of
        // `execute_tool`.
        let request = tracing::info_span!("POST /charges", otel.kind = "client");
        tokio::time::sleep(Duration::from_millis(20)).instrument(request).await;
        if *cents > 1000 {
            return Err(format!("no credit for {order}")).or_refused();
        }
        Ok(Applied::new(format!("{order} is paid")))
    }
}

/// Sends spans from a separate thread, in batches.
fn export() -> anyhow::Result<SdkTracerProvider> {
    let exporter = SpanExporter::builder().with_http().build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name("shop").build())
        .build();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
    // Of the spans of the exporter's own requests there would be no end.
    let filter = filter.add_directive("hyper=off".parse()?).add_directive("reqwest=off".parse()?);
    tracing_subscriber::registry().with(filter).with(layer).init();
    Ok(provider)
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = env::args().collect();
    let [_, file, order, cents] = &words[..] else { anyhow::bail!("otlp FILE ORDER CENTS") };
    let provider = export()?;
    let worked = work(file, order, cents.parse().context("CENTS is a number")?);
    // Sends the remaining spans.
    provider.shutdown()?;
    worked
}

#[tokio::main(flavor = "current_thread")]
async fn work(file: &str, order: &str, cents: u32) -> anyhow::Result<()> {
    let store = Store::sqlite(file).await?;
    let charge = Charge { order: order.to_owned(), cents };
    let mut placed = Order::new(charge);
    // The code that places orders has a span, such as that of an HTTP request.
    store.create(&mut placed).instrument(tracing::info_span!("place_order")).await?;
    let actors = Actors::issue(&env::var("WORKER").unwrap_or_else(|_| "shop".to_owned()))?;
    Worker::new(&store, actors).machine::<AnyOrder>().tool(Bank).run_until_idle().await?;
    Ok(())
}

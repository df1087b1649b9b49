//! Records everything that is reported in this process, one test at a time.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use machine_tests::STUCK;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// A span or an event.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) level: String,
    pub(crate) is_span: bool,
    /// The declared fields, without the message.
    pub(crate) fields: Vec<&'static str>,
    /// The values that were recorded, and the message.
    pub(crate) values: BTreeMap<&'static str, String>,
    /// The span that it is in, as an index.
    pub(crate) parent: Option<usize>,
}

/// Everything since the last test, and where each span is.
#[derive(Default)]
struct Reports {
    all: Vec<Report>,
    spans: HashMap<u64, usize>,
}

static REPORTS: Mutex<Option<Reports>> = Mutex::new(None);

fn reports() -> MutexGuard<'static, Option<Reports>> {
    REPORTS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Capture;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(reports) = &mut *reports() else { return };
        let parent = context.span(id).and_then(|span| span.parent()).map(|it| it.id().into_u64());
        let parent = parent.and_then(|parent| reports.spans.get(&parent).copied());
        let mut report = Report::new(attributes.metadata(), true, parent);
        attributes.record(&mut report);
        reports.spans.insert(id.into_u64(), reports.all.len());
        reports.all.push(report);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let Some(reports) = &mut *reports() else { return };
        if let Some(span) = reports.spans.get(&id.into_u64()) {
            values.record(&mut reports.all[*span]);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(reports) = &mut *reports() else { return };
        let parent = context.event_span(event).map(|span| span.id().into_u64());
        let parent = parent.and_then(|parent| reports.spans.get(&parent).copied());
        let mut report = Report::new(event.metadata(), false, parent);
        event.record(&mut report);
        reports.all.push(report);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        if let Some(reports) = &mut *reports() {
            reports.spans.remove(&id.into_u64());
        }
    }
}

impl Report {
    fn new(metadata: &'static Metadata<'static>, is_span: bool, parent: Option<usize>) -> Self {
        let fields = metadata.fields().iter().map(|field| field.name());
        Self {
            name: metadata.name(),
            target: metadata.target(),
            level: metadata.level().to_string(),
            is_span,
            fields: fields.filter(|field| *field != "message").collect(),
            values: BTreeMap::new(),
            parent,
        }
    }

    /// The value of a field; empty if there is none.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.values.get(field).map_or("", String::as_str)
    }
}

impl Visit for Report {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.values.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.values.insert(field.name(), value.to_owned());
    }
}

/// Waits until something like this is reported in this test.
pub(crate) async fn until(what: impl Fn(&Report) -> bool) {
    let found = async {
        while !reports().as_ref().is_some_and(|reports| reports.all.iter().any(&what)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(STUCK, found).await.expect("it is reported");
}

/// Runs this on a new runtime, and returns all that was reported in the process meanwhile.
pub(crate) fn captured<T>(work: impl Future<Output = T>) -> (T, Vec<Report>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static SUBSCRIBER: OnceLock<()> = OnceLock::new();
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    SUBSCRIBER.get_or_init(|| {
        let subscriber = tracing_subscriber::registry().with(Capture);
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    *reports() = Some(Reports::default());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let result = runtime.block_on(work);
    drop(runtime);
    (result, reports().take().unwrap().all)
}

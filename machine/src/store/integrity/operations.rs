use crate::store::{error::LoadError, handle::Store, integrity::verify::VerifyReport};

/// The number of operations read at once.
const PAGE: usize = 1000;

impl Store {
    /// Verifies the operator log: every operation, and that none is missing before the newest one.
    pub(super) async fn verify_operations(
        &self,
        report: &mut VerifyReport,
    ) -> Result<(), LoadError> {
        let mut before: Option<u64> = None;
        loop {
            let page = self.inner.backend.operations(before, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for (number, found) in page {
                report_gap(before, number, report);
                if let Err(broken) = found {
                    report.add(None, broken.reason);
                }
                before = Some(number);
            }
        }
        report_gap(before, 0, report);
        Ok(())
    }
}

fn report_gap(before: Option<u64>, number: u64, report: &mut VerifyReport) {
    match before.map_or(0, |before| before.saturating_sub(number).saturating_sub(1)) {
        0 => {}
        1 => report.add(None, format!("operation {} is missing from the operator log", number + 1)),
        count => {
            let first = number + 1;
            report.add(None, format!("{count} operations are missing from {first} on"));
        }
    }
}

//! `try`, `catch` and `finally` (R73 to R75).

use std::sync::Arc;

use prose_analysis::model::{Catch, ListId};

use super::{Cx, Exec, Flow, status_of};
use crate::event::{EventKind, TryPart};
use crate::value::Value;

impl Cx {
    pub(super) async fn try_catch(
        &self,
        body: Option<ListId>,
        catches: &[Catch],
        finally: Option<ListId>,
    ) -> Exec<Value> {
        self.emit(EventKind::TryStarted);
        let mut result = self.step("try").list(body).await;
        self.ended(TryPart::Body, &result);
        if let (Err(Flow::Throw(error)), Some(catch)) = (&result, catches.first()) {
            let error = Arc::clone(error);
            let name = catch.error.map(|name| self.name_text(name));
            self.emit(EventKind::Caught { name, error: Arc::clone(&error) });
            self.failure_handled();
            let mut cx = self.step("catch").with_item(catch.error, Value::Error(Arc::clone(&error)));
            cx.caught = Some(error);
            result = cx.list(catch.body).await;
            if matches!(result, Err(Flow::Throw(_))) {
                self.failure_raised_again();
            }
            self.ended(TryPart::Catch, &result);
        }
        if finally.is_some() {
            self.emit(EventKind::FinallyStarted);
            let end = self.step("finally").list(finally).await;
            if matches!((&result, &end), (Err(Flow::Throw(_)), Err(flow)) if !matches!(flow, Flow::Throw(_)))
            {
                self.failure_handled();
            }
            self.ended(TryPart::Finally, &end);
            // What leads out of `finally` takes the place of what led there (R75).
            end?;
        }
        result
    }

    fn ended(&self, part: TryPart, result: &Exec<Value>) {
        self.emit(EventKind::TryEnded { part, status: status_of(result) });
    }
}

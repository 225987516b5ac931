//! Progress reports.

use serde_json::json;

use crate::protocol::notification::Notification;

/// The progress of one kind of work, as it was last reported.
#[derive(Debug)]
pub(crate) struct Progress {
    title: &'static str,
    kind: &'static str,
    shown: Option<String>,
    /// How often there was something to show. Each time has a token of its own.
    times: u32,
}

impl Progress {
    /// No work yet. `title` is shown to the user; `kind` distinguishes the tokens of different kinds of work.
    pub(crate) fn new(title: &'static str, kind: &'static str) -> Self {
        Self { title, kind, shown: None, times: 0 }
    }

    /// The reports to send when the work is at `message`; none when there is no work.
    pub(crate) fn news(&mut self, message: Option<String>) -> Vec<Notification> {
        if self.shown == message {
            return Vec::new();
        }
        let mut news = Vec::new();
        if self.shown.is_none() {
            self.times += 1;
            let params = json!({ "token": self.token() });
            news.push(Notification::request("window/workDoneProgress/create", &params));
        }
        let value = match (&self.shown, &message) {
            (None, message) => {
                json!({ "kind": "begin", "title": self.title, "message": message })
            }
            (Some(_), Some(message)) => json!({ "kind": "report", "message": message }),
            (Some(_), None) => json!({ "kind": "end" }),
        };
        let params = json!({ "token": self.token(), "value": value });
        news.push(Notification::new("$/progress", &params));
        self.shown = message;
        news
    }

    fn token(&self) -> String {
        format!("{}-{}", self.kind, self.times)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn progress_is_reported_while_work_is_under_way() {
        let mut progress = Progress::new("Fetching imported programs", "fetching");
        let mut sent = String::new();
        for message in [None, Some("a/b"), Some("a/b and 1 more"), Some("a/b and 1 more"), None, Some("c/d")]
        {
            for Notification { method, params, .. } in progress.news(message.map(str::to_owned)) {
                let params = String::from_utf8(params.into_pieces().concat()).unwrap();
                sent += &format!("{method} {params}\n");
            }
        }
        expect![[r#"
            window/workDoneProgress/create {"token":"fetching-1"}
            $/progress {"token":"fetching-1","value":{"kind":"begin","message":"a/b","title":"Fetching imported programs"}}
            $/progress {"token":"fetching-1","value":{"kind":"report","message":"a/b and 1 more"}}
            $/progress {"token":"fetching-1","value":{"kind":"end"}}
            window/workDoneProgress/create {"token":"fetching-2"}
            $/progress {"token":"fetching-2","value":{"kind":"begin","message":"c/d","title":"Fetching imported programs"}}
        "#]].assert_eq(&sent);
    }
}

//! What a client is told of the look-ups under way.

use serde_json::json;

use crate::owner::Notification;
use crate::questions::next_id;

/// What the client was last told.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    shown: Option<String>,
    /// How often there was something to show. Each time has a token of its own.
    times: u32,
}

impl Progress {
    /// What to tell the client when so many look-ups are under way; `one` is what one of them is for.
    pub(crate) fn news(&mut self, count: usize, one: Option<String>) -> Vec<Notification> {
        let message = one.map(|one| match count {
            1 => one,
            count => format!("{one} and {} more", count - 1),
        });
        if self.shown == message {
            return Vec::new();
        }
        let mut news = Vec::new();
        if self.shown.is_none() {
            self.times += 1;
            let params = json!({ "token": self.token() });
            news.push(Notification { method: "window/workDoneProgress/create", params, id: Some(next_id()) });
        }
        let value = match (&self.shown, &message) {
            (None, message) => {
                json!({ "kind": "begin", "title": "Fetching imported programs", "message": message })
            }
            (Some(_), Some(message)) => json!({ "kind": "report", "message": message }),
            (Some(_), None) => json!({ "kind": "end" }),
        };
        let params = json!({ "token": self.token(), "value": value });
        news.push(Notification { method: "$/progress", params, id: None });
        self.shown = message;
        news
    }

    fn token(&self) -> String {
        format!("fetching-{}", self.times)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn look_ups_are_told_while_they_are_under_way() {
        let mut progress = Progress::default();
        let mut told = String::new();
        for (count, one) in
            [(0, None), (1, Some("a/b")), (2, Some("a/b")), (2, Some("a/b")), (0, None), (1, Some("c/d"))]
        {
            for Notification { method, params, .. } in progress.news(count, one.map(str::to_owned)) {
                told += &format!("{method} {params}\n");
            }
        }
        expect![[r#"
            window/workDoneProgress/create {"token":"fetching-1"}
            $/progress {"token":"fetching-1","value":{"kind":"begin","message":"a/b","title":"Fetching imported programs"}}
            $/progress {"token":"fetching-1","value":{"kind":"report","message":"a/b and 1 more"}}
            $/progress {"token":"fetching-1","value":{"kind":"end"}}
            window/workDoneProgress/create {"token":"fetching-2"}
            $/progress {"token":"fetching-2","value":{"kind":"begin","message":"c/d","title":"Fetching imported programs"}}
        "#]].assert_eq(&told);
    }
}

//! `prose/describe`: a program explained on a page.

use serde_json::json;

use crate::features::lens_resolution::with_request;
use crate::protocol::json::{Json, json as text};
use crate::protocol::request::Failure;
use crate::reads::views::{View, Views};

/// The pages of the programs of a document, one after the other; null where there is no program. Like a run, it is refused for a program with errors.
pub(crate) fn description(views: &Views) -> Result<Json, Failure> {
    let pages = views.each().map(|view| page(&view)).collect::<Result<Vec<_>, _>>()?;
    let pages: Vec<String> = pages.into_iter().flatten().collect();
    Ok(text(&(!pages.is_empty()).then(|| json!({ "text": pages.join("\n") }))))
}

fn page(view: &View<'_>) -> Result<Option<String>, Failure> {
    let (file, config) = (view.snapshot.file, &view.snapshot.config);
    if let Err(refusal) = config.runnable(view.db, file) {
        let name = file.path(view.db).file_name().unwrap_or_default().to_string_lossy();
        return Err(Failure::Refused(format!("`{name}` {refusal}")));
    }
    let grants = config.config().grants();
    Ok(with_request(view, |request| prose_run::describe(request, &grants)))
}

//! How the screen of a run is drawn.

use prose_view::{Node, NodeId, NodeKind, Status, WaitsFor, duration, usage_text};
use prose_vm::event::RunStatus;
use prose_vm::questions::OpenQuestion;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use crate::keys::{KEYS, KeyHelp};
use crate::message::Message;
use crate::palette::Palette;
use crate::screen::{Mode, Now, RunScreen};
use crate::text::{columns, fitted, one_line, wrapped};
use crate::tree::Row;

/// From which width on the text of a session stands next to the tree, rather than below it.
const WIDE: u16 = 110;

/// From which height on there is room for the text of a session below the tree.
const HIGH: u16 = 12;

/// What shows that something runs, one after the other.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// For how many milliseconds each of them is shown.
const SPIN: u64 = 100;

impl RunScreen {
    /// Draws the screen, whatever its size.
    pub fn draw(&mut self, frame: &mut Frame<'_>, now: &Now<'_>) {
        self.update(now.view);
        Message::age(&mut self.message);
        let area = frame.area();
        let asks = self.question_lines(now, usize::from(area.width));
        let asked = (asks.len() as u16).min(area.height.saturating_sub(3));
        let [head, middle, question, foot] = Layout::vertical([
            Constraint::Length(2.min(area.height)),
            Constraint::Min(0),
            Constraint::Length(asked),
            Constraint::Length(1),
        ])
        .areas(area);
        frame.render_widget(Paragraph::new(self.head(now, usize::from(area.width))), head);
        if middle.width >= WIDE && middle.height > 0 {
            let [tree, gap, text] =
                Layout::horizontal([Constraint::Fill(1), Constraint::Length(3), Constraint::Fill(1)])
                    .areas(middle);
            let bars: Vec<Line<'_>> =
                (0..gap.height).map(|_| Line::styled(" │ ", self.palette.faint())).collect();
            frame.render_widget(Paragraph::new(bars), gap);
            self.draw_tree(frame, tree, now);
            self.draw_text(frame, text, now);
        } else if middle.height >= HIGH {
            let [tree, text] = Layout::vertical([Constraint::Fill(3), Constraint::Fill(2)]).areas(middle);
            self.draw_tree(frame, tree, now);
            self.draw_text(frame, text, now);
        } else {
            self.draw_tree(frame, middle, now);
        }
        self.draw_question(frame, question, asks);
        frame.render_widget(Paragraph::new(self.foot(now, usize::from(foot.width))), foot);
        if self.mode == Mode::Help {
            draw_help(frame, middle, &KEYS, self.palette);
        }
    }

    /// The program, how it goes, and what it has used.
    fn head(&self, now: &Now<'_>, width: usize) -> Vec<Line<'static>> {
        let view = now.view;
        let Some((head, root)) = view.head().zip(view.root()) else { return Vec::new() };
        let (status, style) = standing(now, self.palette);
        let is_at_work = root.sessions.running > 0 && view.end().is_none();
        let work = view.times().work + if is_at_work { now.late } else { 0 };
        let right = format!("{status} · {}", duration(work));
        let program = one_line(&head.program).into_owned();
        let room = width.saturating_sub(columns(&right) + 1);
        let left = fitted(&program, room).into_owned();
        let run =
            fitted(&format!("  run {} with {}", head.run, head.harness), room.saturating_sub(columns(&left)))
                .into_owned();
        let gap = " ".repeat(width.saturating_sub(columns(&left) + columns(&run) + columns(&right)));
        let first = Line::from(vec![
            Span::styled(left, self.palette.bold()),
            Span::styled(run, self.palette.faint()),
            Span::raw(gap),
            Span::styled(right, style),
        ]);
        let sessions = root.sessions;
        let counts = [
            (sessions.running, "running"),
            (sessions.waiting, "waiting"),
            (sessions.complete, "complete"),
            (sessions.failed, "failed"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        if parts.is_empty() {
            parts.push("no sessions yet".to_owned());
        }
        parts.extend(root.usage.map(usage_text));
        parts.extend(Some(one_line(now.limits).into_owned()).filter(|limits| !limits.is_empty()));
        vec![first, Line::raw(fitted(&parts.join(" · "), width).into_owned())]
    }

    fn draw_tree(&mut self, frame: &mut Frame<'_>, area: Rect, now: &Now<'_>) {
        self.page = usize::from(area.height);
        if area.is_empty() {
            return;
        }
        let (index, height) = (self.index(), self.page);
        // The selected row is always shown, and no room is left below the last one while there are others above.
        self.first = self.first.min(index).max((index + 1).saturating_sub(height));
        self.first = self.first.min(self.rows.len().saturating_sub(height));
        let shown = self.rows.iter().enumerate().skip(self.first).take(height);
        let lines: Vec<Line<'_>> = shown
            .map(|(number, row)| {
                let line = self.row(row, now, usize::from(area.width));
                if number == index { line.style(self.palette.selected()) } else { line }
            })
            .collect();
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn row(&self, row: &Row, now: &Now<'_>, width: usize) -> Line<'static> {
        let view = now.view;
        let Some(node) = view.node(row.id) else { return Line::default() };
        let right = right_of(node, now);
        let fold = match row.is_open {
            Some(true) => "▾ ",
            Some(false) => "▸ ",
            None => "  ",
        };
        let indent = format!("{}{fold}", "  ".repeat(row.depth.min(width / 4)));
        let symbol = symbol(node.status, now);
        let branch = row
            .branch
            .and_then(|id| view.node(id))
            .map_or(String::new(), |branch| format!("{}: ", branch.label));
        let label = one_line(&format!("{branch}{}", label_of(node))).into_owned();
        let doing = doing(row.id, node, now);
        let doing = if doing.is_empty() { doing } else { format!("  {}", one_line(&doing)) };
        let room = width.saturating_sub(columns(&indent) + 2 + columns(&right) + 1);
        let label = fitted(&label, room).into_owned();
        let doing = fitted(&doing, room.saturating_sub(columns(&label))).into_owned();
        let gap = " ".repeat((room + 1).saturating_sub(columns(&label) + columns(&doing)));
        Line::from(vec![
            Span::raw(indent),
            Span::styled(format!("{symbol} "), self.palette.status(node.status)),
            Span::raw(label),
            Span::styled(doing, self.palette.faint()),
            Span::raw(gap),
            Span::styled(right, self.palette.faint()),
        ])
    }

    /// The text of what is selected: its last lines, or those before them.
    fn draw_text(&mut self, frame: &mut Frame<'_>, area: Rect, now: &Now<'_>) {
        let Some((id, node)) = self.selected.and_then(|id| Some((id, now.view.node(id)?))) else { return };
        if area.is_empty() {
            return;
        }
        let width = usize::from(area.width);
        let (title, text) = self.text_of(id, node, now);
        let title = fitted(&one_line(&title), width).into_owned();
        let rule = "─".repeat(width.saturating_sub(columns(&title) + 1));
        let title = Line::from(vec![
            Span::styled(title, self.palette.bold()),
            Span::raw(" "),
            Span::styled(rule, self.palette.faint()),
        ]);
        let height = usize::from(area.height - 1);
        let lines = wrapped(&text, width);
        let last_first = lines.len().saturating_sub(height);
        self.scrolled = self.scrolled.min(last_first);
        let first = last_first - self.scrolled;
        let shown = lines.into_iter().skip(first).take(height).map(Line::raw);
        frame.render_widget(Paragraph::new(std::iter::once(title).chain(shown).collect::<Vec<_>>()), area);
    }

    /// A title and the text of a part of the run.
    fn text_of(&self, id: NodeId, node: &Node, now: &Now<'_>) -> (String, String) {
        let view = now.view;
        let line = node.site.and_then(|site| view.line(site)).map_or(String::new(), |line| line.to_string());
        let error = node.error.as_ref().map(|error| format!("error: {error}"));
        let Some(session) = node.session() else {
            let title = format!("{} {}", node.kind.name(), line);
            let parts = [Some(label_of(node)), Some(node.note.to_string()), error];
            let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
            return (title.trim_end().to_owned(), parts.collect::<Vec<_>>().join("\n"));
        };
        let model = session.model.as_ref().map_or(String::new(), |model| format!(" · {model}"));
        let tries = match session.attempts.len() {
            0 | 1 => String::new(),
            count => format!(" · {count} attempts"),
        };
        let title = format!("session {line}{model}{tries}");
        let prompt = || {
            let request = session.attempts.last()?.request;
            Some(format!("{}\n", view.task(request)?.prompt))
        };
        let written = now.output.map(|output| output.text.clone()).filter(|text| !text.is_empty());
        let text = written.or_else(|| error.clone()).or_else(prompt).unwrap_or_else(|| doing(id, node, now));
        match error {
            Some(error) if !text.contains(&error) => (title, format!("{text}\n{error}")),
            _ => (title, text),
        }
    }

    /// What the run waits for, and the line in which it is answered.
    fn question_lines(&self, now: &Now<'_>, width: usize) -> Vec<Line<'static>> {
        let asked = match &self.mode {
            Mode::Answer(id, _) => now.questions.iter().find(|question| question.id == *id),
            _ => now.questions.first(),
        };
        let Some(question) = asked else { return Vec::new() };
        let more = match now.questions.len() {
            1 => String::new(),
            count => format!(" (1 of {count})"),
        };
        let text = format!("waiting{more}: {}", summary(question));
        let mut lines: Vec<Line<'static>> = wrapped(&text, width)
            .into_iter()
            .take(4)
            .map(|line| Line::styled(line, self.palette.question()))
            .collect();
        if let Mode::Answer(_, line) = &self.mode {
            lines.push(Line::raw(format!("> {}", line.text())));
        }
        lines
    }

    fn draw_question(&self, frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>) {
        if area.is_empty() {
            return;
        }
        // The last line is the one that is typed in.
        let hidden = lines.len().saturating_sub(usize::from(area.height));
        frame.render_widget(Clear, area);
        let mut lines: Vec<Line<'static>> = lines.into_iter().skip(hidden).collect();
        if let Mode::Answer(_, line) = &self.mode {
            let width = usize::from(area.width);
            let before = columns(&line.before_cursor()) + 2;
            let hidden = before.saturating_sub(width.saturating_sub(1));
            if hidden > 0 {
                let shown: String = format!("> {}", line.text()).chars().skip(hidden).collect();
                if let Some(last) = lines.last_mut() {
                    *last = Line::raw(shown);
                }
            }
            let column = (before - hidden).min(width.saturating_sub(1)) as u16;
            frame.set_cursor_position(Position::new(area.x + column, area.bottom() - 1));
        }
        frame.render_widget(Paragraph::new(lines), area);
    }

    /// The last line: what came of an action, what a key is asked for, or the keys.
    fn foot(&self, now: &Now<'_>, width: usize) -> Line<'static> {
        match (&self.message, &self.mode) {
            (Some(message), _) => message.line(width, self.palette),
            (None, Mode::ConfirmStop) => Line::styled(
                fitted(
                    "Stop the run? Sessions at work are cancelled. y stops it, any other key does not.",
                    width,
                )
                .into_owned(),
                self.palette.question(),
            ),
            (None, Mode::Answer(..)) => Line::styled("Enter answers · Esc goes back", self.palette.faint()),
            (None, Mode::Help) => Line::styled("any key goes back", self.palette.faint()),
            (None, Mode::Tree) => {
                let session = self.selected_session(now.view);
                let is_at_work = session.is_some_and(|(node, _)| node.status.is_open());
                let is_paused = now.view.pause().is_some();
                let keys = KEYS.iter().filter(|key| match key.keys {
                    "a" => !now.questions.is_empty(),
                    "s" | "r" => is_at_work,
                    _ => true,
                });
                let renamed = |key: &KeyHelp| match key.keys {
                    "p" if is_paused => "continue",
                    "f" if self.follows => "stay here",
                    "h" if self.folding.hides_complete => "show complete",
                    _ => key.short,
                };
                key_line(keys.map(|key| (key.keys, renamed(key))), width, self.palette)
            }
        }
    }
}

/// The keys with their words, as far as there is room.
pub(crate) fn key_line<'a>(
    keys: impl Iterator<Item = (&'a str, &'a str)>,
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (key, word) in keys.filter(|(_, word)| !word.is_empty()) {
        let gap = if used > 0 { 2 } else { 0 };
        let wide = gap + columns(key) + 1 + columns(word);
        if used + wide > width {
            break;
        }
        used += wide;
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(key.to_owned(), palette.bold()));
        spans.push(Span::styled(format!(" {word}"), palette.faint()));
    }
    Line::from(spans)
}

/// Draws a list of keys over an area.
pub(crate) fn draw_help(frame: &mut Frame<'_>, area: Rect, keys: &[KeyHelp], palette: Palette) {
    frame.render_widget(Clear, area);
    let lines: Vec<Line<'_>> = keys
        .iter()
        .map(|key| {
            let gap = " ".repeat(11_usize.saturating_sub(columns(key.keys)));
            Line::from(vec![
                Span::styled(format!("  {}{gap}", key.keys), palette.bold()),
                Span::raw(key.does),
            ])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// How the run stands, in a word.
fn standing(now: &Now<'_>, palette: Palette) -> (&'static str, Style) {
    match now.view.end().map(|end| end.status) {
        Some(RunStatus::Completed) => ("completed", palette.status(Status::Complete)),
        Some(RunStatus::Failed) => ("failed", palette.status(Status::Failed)),
        Some(RunStatus::Waiting) => ("waiting", palette.question()),
        Some(_) => ("stopped", palette.question()),
        // Its process was killed.
        None if now.view.root().is_some_and(|root| root.status == Status::Interrupted) => {
            ("interrupted", palette.status(Status::Interrupted))
        }
        None if now.view.pause().is_some() => ("paused", palette.question()),
        None if !now.questions.is_empty() => ("waiting for you", palette.question()),
        None => ("running", palette.status(Status::Running)),
    }
}

/// What stands for a status.
fn symbol(status: Status, now: &Now<'_>) -> &'static str {
    match status {
        Status::Running => SPINNER[((now.view.now() + now.late) / SPIN % SPINNER.len() as u64) as usize],
        Status::Waiting => "…",
        Status::Complete => "✓",
        Status::Failed => "✗",
        Status::Skipped => "–",
        Status::Interrupted => "■",
    }
}

/// What a part is called.
fn label_of(node: &Node) -> String {
    let detail = if node.detail.is_empty() { String::new() } else { format!(" ({})", node.detail) };
    match &node.kind {
        NodeKind::Session(session) => {
            let agent = session.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
            let text = if node.label.is_empty() { &session.name } else { &node.label };
            format!("{agent}{text}")
        }
        NodeKind::Branch(_) | NodeKind::Iteration(_) if !node.label.is_empty() => {
            format!("{}{detail}", node.label)
        }
        // Some labels are the text of the statement.
        kind if node.label.is_empty() => format!("{}{detail}", kind.name()),
        kind if node.label.starts_with(kind.name()) => format!("{}{detail}", node.label),
        kind => format!("{} {}{detail}", kind.name(), node.label),
    }
}

/// What a part does now, or what came of it, in a few words.
fn doing(id: NodeId, node: &Node, now: &Now<'_>) -> String {
    match node.waits_for {
        Some(WaitsFor::Agent) => return "waits for an agent".to_owned(),
        Some(WaitsFor::Retry) => return "waits for its retry".to_owned(),
        Some(WaitsFor::Input) => return "waits for an answer".to_owned(),
        Some(WaitsFor::Permission) => return "waits for permission".to_owned(),
        None => {}
    }
    if node.status.is_open() {
        return now
            .view
            .activity(id)
            .map_or(String::new(), |now_at| now_at.summary(now.view.now() + now.late));
    }
    match &node.error {
        Some(error) if node.session().is_some() => {
            error.message.lines().next().unwrap_or_default().to_owned()
        }
        _ if node.session().is_none() => node.note.to_string(),
        _ => String::new(),
    }
}

/// What stands at the end of a row: how long it took, what it has used, how its sessions stand.
fn right_of(node: &Node, now: &Now<'_>) -> String {
    let work = now.view.times_of(node).work;
    let late = if node.status == Status::Running { now.late } else { 0 };
    let took = match node.session().map(|session| session.attempts.last()) {
        Some(Some(attempt)) => now.view.work_of(node, attempt) + late,
        _ => work + if node.sessions.running > 0 { late } else { 0 },
    };
    let cost = node.usage.and_then(|usage| usage.cost).map(|cost| format!("${cost:.2}"));
    let sessions = Some(node.sessions).filter(|_| node.session().is_none());
    let sessions = sessions.filter(|counts| counts.total > 1);
    let sessions = sessions.map(|counts| format!("{}/{}", counts.complete, counts.total));
    let parts = [sessions, cost, Some(duration(took))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A question in one line, with the answers that it offers.
fn summary(question: &OpenQuestion) -> String {
    let note = question.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
    let optional = if question.is_optional { " (empty for none)" } else { "" };
    let offered: Vec<String> = question
        .choices
        .iter()
        .map(|choice| match choice.letter {
            Some(letter) => format!("{letter} = {}", choice.title),
            None => choice.title.to_string(),
        })
        .collect();
    let offered = if offered.is_empty() { String::new() } else { format!(" [{}]", offered.join(", ")) };
    one_line(&format!("{}{offered}{optional}{note}", question.summary())).into_owned()
}

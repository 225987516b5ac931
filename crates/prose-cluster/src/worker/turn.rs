//! One turn of a worker: everything that there is to say to the server, and what there is to do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use prose_run::control::relay;
use prose_state::{Lead, protocol};
use prose_vm::effect::{RequestId, Usage};
use prose_vm::event::RunStatus;
use tokio::sync::oneshot;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::{Claimed, Leading, Performed, Worker, usage_text, used_so_far};
use crate::bundle::VERSION;
use crate::connection::Connections;
use crate::done::done;
use crate::effects::{Asked, Done, Key};
use crate::lead::{Led, Taken};
use crate::news::News;
use crate::perform::{AskLeader, Used, Work, folder_of, perform, refused};

/// How many runs a process takes over at once, so that several share them.
const RUNS_AT_ONCE: i64 = 4;

/// How many outcomes are fetched at once.
const OUTCOMES_AT_ONCE: i64 = 1000;

/// How old a message may be that is still answered: who has sent it waits no longer.
const OPEN_MESSAGES: &str =
    "SELECT id, run_id, request FROM message WHERE reply IS NULL AND run_id = ANY($1::text[])
    AND made_at > clock_timestamp() - interval '30 seconds' ORDER BY id";

const REPLY: &str =
    "UPDATE message SET reply = mine.reply FROM unnest($1::bigint[], $2::text[]) AS mine (id, reply)
    WHERE message.id = mine.id AND message.reply IS NULL";

impl Worker<'_> {
    /// Everything that can be done now.
    pub(super) async fn turn(&mut self, server: &mut Connections) -> Result<(), Error> {
        if Instant::now() >= self.next_heartbeat {
            self.heartbeat(server).await?;
        }
        self.send_cancelled(server).await?;
        self.send_requested(server).await?;
        self.send_held(server).await?;
        let was_busy = !self.performed.is_empty();
        self.send_performed(server).await?;
        self.send_ended(server).await?;
        self.send_replies(server).await?;
        self.send_questions(server).await?;
        if std::mem::take(&mut self.wakes.questions) {
            self.take_questions(server).await?;
        }
        if std::mem::take(&mut self.wakes.answers) {
            self.take_answers(server).await?;
        }
        let named = std::mem::take(&mut self.wakes.done);
        if std::mem::take(&mut self.wakes.outcomes) {
            self.take_outcomes(server).await?;
        } else {
            self.take_named(server, &named).await?;
        }
        if std::mem::take(&mut self.wakes.messages) {
            self.take_messages(server).await?;
        }
        if self.is_stopping {
            return server.query(protocol::UNREGISTER, &[&self.settings.name]).await.map(drop);
        }
        if std::mem::take(&mut self.wakes.jobs) {
            self.take_runs(server).await?;
        }
        if self.wakes.claims {
            self.take_claims(server).await?;
        }
        self.listen_if_needed(server, was_busy).await
    }

    /// Stops listening if this process leads no runs and has found its next requests without being woken: each notification of the cluster costs the server a
    /// signal to each process that listens. Listens again as soon as there is something to hear.
    async fn listen_if_needed(&mut self, server: &mut Connections, was_busy: bool) -> Result<(), Error> {
        let is_full = self.claims.len() >= self.settings.slots;
        let needs_to_hear = self.settings.leads > 0 || !is_full || !self.unanswered.is_empty();
        if server.is_listening() && was_busy && !needs_to_hear {
            return server.unlisten().await;
        }
        if !server.is_listening() && needs_to_hear {
            server.listen().await?;
            // What was said before.
            self.wakes.quotas = true;
            self.take_answers(server).await?;
            self.take_claims(server).await?;
        }
        Ok(())
    }

    fn lease(&self) -> f64 {
        self.settings.lease.as_secs_f64()
    }

    async fn heartbeat(&mut self, server: &mut Connections) -> Result<(), Error> {
        let begin = Instant::now();
        let lease = self.lease();
        if !self.leads.is_empty() {
            let (runs, epochs): (Vec<&str>, Vec<i64>) =
                self.leads.iter().map(|(run, leading)| (&**run, leading.epoch)).unzip();
            let rows = server.query(protocol::RENEW, &[&self.settings.name, &lease, &runs, &epochs]).await?;
            let mine: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
            let lost = self.leads.keys().filter(|run| !mine.contains(&&***run));
            for run in lost.cloned().collect::<Vec<_>>() {
                self.lose(&run, "another worker leads it");
            }
        }
        if !self.claims.is_empty() {
            let claims: Vec<i64> = self.claims.keys().copied().collect();
            let (runs, ids) = columns(self.claims.values().map(|claimed| &claimed.key));
            let used: Vec<Option<String>> =
                self.claims.values().map(|claimed| used_so_far(&claimed.used).and_then(usage_text)).collect();
            let kept: Vec<i64> = server
                .query(protocol::HEARTBEAT, &[&lease, &claims, &runs, &ids, &used])
                .await?
                .iter()
                .map(|row| row.get(0))
                .collect();
            for claim in claims.into_iter().filter(|claim| !kept.contains(claim)) {
                if let Some(claimed) = self.claims.remove(&claim) {
                    claimed.abort.abort();
                    self.wakes.claims = true;
                }
            }
        }
        let version = env!("CARGO_PKG_VERSION");
        let slots = self.settings.slots as i64;
        server
            .query(
                protocol::REGISTER,
                &[&self.settings.name, &self.settings.classes, &slots, &version, &lease],
            )
            .await?;
        // The notification of a change can be lost with a connection.
        self.wakes.quotas = true;
        if let Some(metrics) = &self.metrics {
            metrics.server(
                &server.query(protocol::QUEUE, &[]).await?,
                &server.query(protocol::RUNS, &[]).await?,
            );
        }
        // Leases count from when they were asked for, at the latest.
        self.renewed = begin;
        self.next_heartbeat = begin + self.heartbeat_interval();
        self.forget_backends();
        Ok(())
    }

    /// Forgets the harnesses of runs that nothing is performed for any more.
    fn forget_backends(&mut self) {
        let claims = &self.claims;
        let gone = self.backends.retain(|run| claims.values().any(|claimed| *claimed.key.0 == *run));
        for run in gone {
            // What is left of a folder harms nobody.
            let _ = std::fs::remove_dir_all(folder_of(&self.settings.folder, &run));
        }
    }

    async fn send_cancelled(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.cancelled.is_empty() {
            return Ok(());
        }
        let (runs, ids) = columns(self.cancelled.iter());
        let epochs: Vec<i64> = self.cancelled.iter().map(|key| self.epoch_of(key)).collect();
        server.query(protocol::CANCEL, &[&runs, &epochs, &ids, &self.settings.name]).await?;
        self.cancelled.clear();
        Ok(())
    }

    fn epoch_of(&self, key: &Key) -> i64 {
        self.leads.get(&key.0).map_or(0, |leading| leading.epoch)
    }

    async fn send_requested(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.requested.is_empty() {
            return Ok(());
        }
        let mut runs: Vec<Arc<str>> = self.requested.iter().map(|key| Arc::clone(&key.0)).collect();
        runs.sort();
        runs.dedup();
        for run in runs {
            let Some(epoch) = self.leads.get(&run).map(|leading| leading.epoch) else { continue };
            let of_run = self.requested.iter().filter(|key| key.0 == run);
            let wanted: Vec<_> = of_run.filter_map(|key| self.waiting.get(key)).collect();
            let ids: Vec<i64> = wanted.iter().map(|wanted| wanted.key.1.0 as i64).collect();
            let fingerprints: Vec<&str> = wanted.iter().map(|wanted| wanted.fingerprint.as_str()).collect();
            let classes: Vec<&str> = wanted.iter().map(|wanted| wanted.class.as_str()).collect();
            let requests: Vec<&str> = wanted.iter().map(|wanted| wanted.request.as_str()).collect();
            let before: Vec<i64> = wanted.iter().map(|wanted| wanted.before).collect();
            let name = &self.settings.name;
            let made = server
                .query(
                    protocol::REQUEST,
                    &[&&*run, &epoch, name, &ids, &fingerprints, &classes, &requests, &before],
                )
                .await?;
            if made.len() < ids.len() {
                // Outcomes and questions may be there from before.
                let runs = vec![&*run; ids.len()];
                server.query(protocol::AWAIT, &[&runs, &ids]).await?;
                self.wakes.outcomes = true;
                self.wakes.questions = true;
            }
        }
        self.wakes.claims = true;
        let classes = &self.settings.classes;
        let is_for_others = self.requested.iter().any(|key| {
            self.waiting.get(key).is_some_and(|wanted| !classes.iter().any(|class| *class == wanted.class))
        });
        let free = self.settings.slots.saturating_sub(self.claims.len());
        let is_more_than_fits =
            self.requested.len() > free || self.limited.as_ref().is_none_or(|limited| !limited.is_empty());
        self.requested.clear();
        // Others need not look for what this process claims next.
        match is_for_others || is_more_than_fits {
            true => server.notify("effect").await,
            false => Ok(()),
        }
    }

    /// Holds effects back of runs that are paused, which were requested before that, or lets them go.
    async fn send_held(&mut self, server: &mut Connections) -> Result<(), Error> {
        while let Some((run, epoch, is_paused)) = self.held.first() {
            let sql = if *is_paused { protocol::HOLD } else { protocol::LET_GO };
            server.query(sql, &[&&**run, epoch, &self.settings.name]).await?;
            if !is_paused {
                self.wakes.claims = true;
                server.notify("effect").await?;
            }
            self.held.remove(0);
        }
        Ok(())
    }

    async fn send_performed(&mut self, server: &mut Connections) -> Result<(), Error> {
        if !self.released.is_empty() {
            server.query(protocol::RELEASE, &[&self.released]).await?;
            self.released.clear();
            server.notify("effect").await?;
        }
        if self.performed.is_empty() {
            return Ok(());
        }
        let claims: Vec<i64> = self.performed.iter().map(|performed| performed.claim).collect();
        let (runs, ids) = columns(self.performed.iter().map(|performed| &performed.key));
        let outcomes: Vec<&str> = self.performed.iter().map(|performed| performed.outcome.as_str()).collect();
        let usages: Vec<Option<&str>> =
            self.performed.iter().map(|performed| performed.usage.as_deref()).collect();
        let name = &self.settings.name;
        let parameters: [&(dyn ToSql + Sync); 6] = [&claims, &runs, &ids, &outcomes, &usages, name];
        let rows = server.query_surely(protocol::COMPLETE, &parameters).await?;
        let mut lost: HashMap<i64, Vec<String>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut for_others = Vec::new();
        for Performed { claim, key, outcome, .. } in std::mem::take(&mut self.performed) {
            match lost.remove(&claim) {
                // One that a run waits for here need not be taken from the server.
                Some(lost) if self.waiting.get(&key).is_some() => self.deliver(&key, &lost, &outcome),
                // Without an answer, it may be there all the same, since it was sent before and the answer was lost.
                None if self.waiting.get(&key).is_some() => self.wakes.outcomes = true,
                Some(_) | None => for_others.push(key),
            }
        }
        match for_others.is_empty() {
            true => Ok(()),
            false => server.notify(&done(&for_others)).await,
        }
    }

    async fn send_ended(&mut self, server: &mut Connections) -> Result<(), Error> {
        while let Some((run, epoch, led)) = self.led.first() {
            let (run, epoch, name) = (Arc::clone(run), *epoch, self.settings.name.clone());
            let is_leaving = !self.is_led_in(&run, epoch);
            let said = match led {
                Led::Ended(end) if !(is_leaving && end.status == RunStatus::Interrupted) => {
                    server.query_surely(protocol::END, &[&&*run, &epoch, &name, &None::<&str>]).await?;
                    let status = status_name(end.status);
                    if let Some(metrics) = &self.metrics {
                        metrics.ended(status);
                    }
                    format!("{run} has ended: {status}")
                }
                Led::Refused(why) if !is_leaving => {
                    server.query_surely(protocol::END, &[&&*run, &epoch, &name, &Some(why)]).await?;
                    format!("{run} is not run: {why}")
                }
                Led::Ended(_) | Led::Left | Led::Unusable(_) | Led::Refused(_) => {
                    let why = match led {
                        Led::Unusable(why) => format!(": {why}"),
                        Led::Ended(_) | Led::Left | Led::Refused(_) => String::new(),
                    };
                    server.query_surely(protocol::HAND_OVER, &[&&*run, &epoch, &name]).await?;
                    server.notify("job").await?;
                    format!("gave {run} back{why}")
                }
            };
            (self.tell)(&said);
            self.led.remove(0);
            // What waits in a later epoch continues to wait.
            if self.leads.get(&run).is_some_and(|leading| leading.epoch == epoch) {
                self.leads.remove(&run);
                self.forget(&run);
            }
            self.wakes.jobs = true;
        }
        Ok(())
    }

    async fn send_replies(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let (ids, replies): (Vec<i64>, Vec<&str>) =
            self.replies.iter().map(|(id, reply)| (*id, reply.as_str())).unzip();
        server.query(REPLY, &[&ids, &replies]).await?;
        for (id, _) in self.replies.drain(..) {
            self.relaying.remove(&id);
        }
        Ok(())
    }

    /// Takes outcomes that a notification has named, as far as a run that is led here waits for them.
    async fn take_named(&mut self, server: &mut Connections, named: &[Key]) -> Result<(), Error> {
        let waiting: Vec<&Key> = named.iter().filter(|key| self.waiting.get(key).is_some()).collect();
        for keys in waiting.chunks(OUTCOMES_AT_ONCE as usize) {
            let (runs, ids) = columns(keys.iter().copied());
            // Nothing is written; on that connection, the statement is planned once.
            let rows = server.query_surely(protocol::TAKE_NAMED, &[&runs, &ids]).await?;
            self.deliver_all(&rows);
        }
        Ok(())
    }

    async fn take_outcomes(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.leads.is_empty() {
            return Ok(());
        }
        let (runs, epochs): (Vec<String>, Vec<i64>) =
            self.leads.iter().map(|(run, leading)| (run.to_string(), leading.epoch)).unzip();
        loop {
            let rows = server.query(protocol::TAKE, &[&runs, &epochs, &OUTCOMES_AT_ONCE]).await?;
            self.deliver_all(&rows);
            if rows.len() < OUTCOMES_AT_ONCE as usize {
                return Ok(());
            }
        }
    }

    fn deliver_all(&mut self, rows: &[Row]) {
        for row in rows {
            let (run, id, lost, outcome): (&str, i64, Vec<String>, &str) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            self.deliver(&(Arc::from(run), RequestId(id as u64)), &lost, outcome);
        }
    }

    /// Gives an outcome, which is on the server, to the run that waits for it, with what lost attempts had used.
    fn deliver(&mut self, key: &Key, lost: &[String], outcome: &str) {
        // One that was cancelled meanwhile is deleted as well.
        let Some(wanted) = self.waiting.remove(key) else { return };
        let done: Done = serde_json::from_str(outcome)
            .unwrap_or_else(|error| refused(format!("the answer of its worker is not understood: {error}")));
        let lost = lost.iter().filter_map(|usage| serde_json::from_str::<Usage>(usage).ok()).collect();
        // A run that has just stopped needs no outcome.
        let _ = wanted.done.send((done, lost));
    }

    async fn take_messages(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.leads.is_empty() {
            return Ok(());
        }
        let runs: Vec<&str> = self.leads.keys().map(|run| &**run).collect();
        for row in server.query(OPEN_MESSAGES, &[&runs]).await? {
            let (id, run, request): (i64, String, String) = (row.get(0), row.get(1), row.get(2));
            let Some(leading) = self.leads.get(run.as_str()) else { continue };
            if !self.relaying.insert(id) {
                continue;
            }
            let (folder, news) = (leading.folder.clone(), self.news.clone());
            tokio::task::spawn_blocking(move || {
                // Without a receiver, the process ends.
                let _ = news.send(News::Replied(id, relay(&folder, &request)));
            });
        }
        Ok(())
    }

    /// Sends the questions of agents that work here, and the answers to those of runs that are led here.
    async fn send_questions(&mut self, server: &mut Connections) -> Result<(), Error> {
        while let Some((claim, id, question)) = self.asked_by_agents.first() {
            server.query(protocol::ASK, &[claim, id, question]).await?;
            self.asked_by_agents.remove(0);
            if self.asked_by_agents.is_empty() {
                self.wakes.questions = true;
                server.notify("question").await?;
            }
        }
        while let Some((claim, id, answer)) = self.answers.first() {
            server.query_surely(protocol::ANSWER, &[claim, id, answer]).await?;
            self.answers.remove(0);
            if self.answers.is_empty() {
                self.wakes.answers = true;
                server.notify("answer").await?;
            }
        }
        Ok(())
    }

    async fn take_questions(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (runs, epochs): (Vec<&str>, Vec<i64>) =
            self.leads.iter().map(|(run, leading)| (&**run, leading.epoch)).unzip();
        for row in server.query(protocol::TAKE_QUESTIONS, &[&runs, &epochs]).await? {
            let key = (Arc::from(row.get::<_, &str>(0)), RequestId(row.get::<_, i64>(1) as u64));
            let (claim, id, question): (i64, i64, &str) = (row.get(2), row.get(3), row.get(4));
            let Some(wanted) = self.waiting.get_mut(&key) else { continue };
            if !wanted.asked.insert((claim, id)) {
                continue;
            }
            let Ok(question) = serde_json::from_str(question) else { continue };
            let (answer, answered) = oneshot::channel();
            // A request that has just ended asks nothing any more.
            let _ = wanted.questions.send(Asked { question, answer });
            let news = self.news.clone();
            tokio::spawn(async move {
                if let Ok(answer) = answered.await {
                    let _ = news.send(News::Answered(claim, id, answer));
                }
            });
        }
        Ok(())
    }

    async fn take_answers(&mut self, server: &mut Connections) -> Result<(), Error> {
        if self.unanswered.is_empty() {
            return Ok(());
        }
        let claims: Vec<i64> = self.unanswered.keys().map(|(claim, _)| *claim).collect();
        for row in server.query(protocol::ANSWERS, &[&claims]).await? {
            let Ok(answer) = serde_json::from_str(row.get::<_, &str>(2)) else { continue };
            if let Some(asking) = self.unanswered.remove(&(row.get(0), row.get(1))) {
                // An agent that has ended needs no answer.
                let _ = asking.send(answer);
            }
        }
        Ok(())
    }

    async fn take_runs(&mut self, server: &mut Connections) -> Result<(), Error> {
        let free = self.settings.leads.saturating_sub(self.leads.len()) as i64;
        if free == 0 {
            return Ok(());
        }
        let lease = self.lease();
        let at_once = free.min(RUNS_AT_ONCE);
        let name = &self.settings.name;
        let rows = server.query_surely(protocol::LEAD, &[name, &lease, &at_once, &VERSION]).await?;
        // There may be more.
        self.wakes.jobs = rows.len() == at_once as usize;
        for row in rows {
            let run: Arc<str> = Arc::from(row.get::<_, &str>(0));
            let lead = Lead { holder: self.settings.name.clone(), epoch: row.get(1) };
            self.lead(Taken { run, lead, bundle: row.get(2), is_begun: row.get(3), is_again: row.get(4) });
        }
        Ok(())
    }

    fn lead(&mut self, taken: Taken) {
        let how = if taken.is_begun { "continues to lead" } else { "leads" };
        (self.tell)(&format!("{how} {}", taken.run));
        let root = taken.root(&self.settings.folder);
        let (stop, stopped) = oneshot::channel();
        let leading = Leading {
            epoch: taken.lead.epoch,
            folder: root.join(".prose").join("runs").join(&*taken.run),
            stop: Some(stop),
            is_leaving: false,
        };
        // An earlier epoch of this process has been told to stop and finds the fence. What it waited for is asked for again.
        self.forget(&taken.run);
        self.leads.insert(Arc::clone(&taken.run), leading);
        let (server, asks, news) = (self.settings.server.clone(), self.asks.clone(), self.news.clone());
        let (run, epoch) = (Arc::clone(&taken.run), taken.lead.epoch);
        let thread = std::thread::Builder::new().name(format!("run-{run}"));
        let told = self.news.clone();
        let leading = move || {
            let led = taken.execute(&root, &server, &asks, stopped);
            // Without a receiver, the process ends.
            let _ = news.send(News::Led(Arc::clone(&taken.run), epoch, led));
        };
        if thread.spawn(leading).is_err() {
            let _ = told.send(News::Led(run, epoch, Led::Left));
        }
    }

    async fn take_claims(&mut self, server: &mut Connections) -> Result<(), Error> {
        let free = self.settings.slots.saturating_sub(self.claims.len()) as i64;
        let rests = self.rests_until.is_some_and(|until| Instant::now() < until);
        if free == 0 || rests || self.settings.classes.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.wakes.quotas) || self.limited.is_none() {
            let rows = server.query(protocol::LIMITED, &[&self.settings.classes]).await?;
            self.limited = Some(rows.iter().map(|row| row.get(0)).collect());
        }
        self.limited_first = !self.limited_first;
        let mut rows = Vec::new();
        for is_limited in [self.limited_first, !self.limited_first] {
            let free = free - rows.len() as i64;
            rows.extend(match is_limited {
                true => self.claim_limited(server, free).await?,
                false => self.claim(server, free).await?,
            });
        }
        self.wakes.claims = rows.len() == free as usize;
        // Many requests of one run are often claimed at once.
        let mut bundles: HashMap<Arc<str>, Option<Arc<str>>> = HashMap::new();
        for row in rows {
            let run: Arc<str> = Arc::from(row.get::<_, &str>(0));
            let (id, claim, attempt): (i64, i64, i32) = (row.get(1), row.get(2), row.get(3));
            let (request, class): (String, String) = (row.get(4), row.get(5));
            let key = (Arc::clone(&run), RequestId(id as u64));
            if !self.backends.is_made(&run) && !bundles.contains_key(&run) {
                let rows = server.query(protocol::BUNDLE, &[&&*run, &claim]).await?;
                let bundle = rows.first().map(|row| Arc::from(row.get::<_, &str>(0)));
                bundles.insert(Arc::clone(&run), bundle);
            }
            let bundle = bundles.get(&run).cloned().flatten();
            self.perform(claim, key, class, Work { attempt, request }, bundle);
        }
        Ok(())
    }

    /// Claims effects of the classes without quotas.
    async fn claim(&self, server: &mut Connections, free: i64) -> Result<Vec<Row>, Error> {
        let limited = self.limited.as_ref().map_or(0, Vec::len);
        if free == 0 || limited == self.settings.classes.len() {
            return Ok(Vec::new());
        }
        let (name, lease, classes) = (&self.settings.name, self.lease(), &self.settings.classes);
        server.query(protocol::CLAIM, &[name, &lease, classes, &free, &numbers(free)]).await
    }

    /// Claims effects of the classes with quotas, one class after the other, beginning with any of them.
    async fn claim_limited(&self, server: &mut Connections, free: i64) -> Result<Vec<Row>, Error> {
        let mut limited = self.limited.clone().unwrap_or_default();
        if free == 0 || limited.is_empty() {
            return Ok(Vec::new());
        }
        fastrand::shuffle(&mut limited);
        let (name, lease) = (&self.settings.name, self.lease());
        // A statement in a transaction sees what was committed before it, so that the quotas are locked by one and used by the next.
        server.query("BEGIN", &[]).await?;
        server.query(protocol::LOCK_QUOTAS, &[&limited]).await?;
        let mut rows: Vec<Row> = Vec::new();
        for class in &limited {
            let free = free - rows.len() as i64;
            if free > 0 {
                let parameters: [&(dyn ToSql + Sync); 5] = [name, &lease, class, &free, &numbers(free)];
                rows.extend(server.query(protocol::CLAIM_WITHIN, &parameters).await?);
            }
        }
        server.query("COMMIT", &[]).await?;
        Ok(rows)
    }

    fn perform(&mut self, claim: i64, key: Key, class: String, work: Work, bundle: Option<Arc<str>>) {
        let used = Used::default();
        let (backends, news, run) = (Arc::clone(&self.backends), self.news.clone(), Arc::clone(&key.0));
        let (folder, used_so_far) = (self.settings.folder.clone(), Arc::clone(&used));
        let performed = async move {
            let made = backends.get(&run, bundle, &folder).await;
            let approvals = Arc::new(AskLeader { claim, news: news.clone() });
            let done = match made {
                Ok(performer) => perform(&performer, &work, &used_so_far, approvals).await,
                Err(why) => Some(refused(why)),
            };
            // Without a receiver, the process ends.
            let _ = news.send(News::Performed(claim, done));
        };
        let abort = tokio::spawn(performed).abort_handle();
        self.claims.insert(claim, Claimed { key, class, abort, used });
    }
}

/// Numbers of claims, which nothing else has.
fn numbers(count: i64) -> Vec<i64> {
    (0..count).map(|_| fastrand::i64(1..)).collect()
}

/// The runs and the requests of effects.
fn columns<'k>(keys: impl Iterator<Item = &'k Key>) -> (Vec<String>, Vec<i64>) {
    keys.map(|(run, id)| (run.to_string(), id.0 as i64)).unzip()
}

fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Interrupted => "stopped",
        RunStatus::Waiting => "waiting",
    }
}

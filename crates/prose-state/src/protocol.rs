//! The protocol by which processes share the runs of a cluster: the statements, each of which is a step that is atomic.
//!
//! A run has one *leader*, which executes its program, and its requests to agents are *effects*, which any *worker* performs. Whoever has something has it for
//! the time of a lease by the clock of the server, and takes another one meanwhile. What is decided is decided by the server: a process that was stopped for
//! longer than its lease finds out by the first statement that it sends, whatever it believes.
//!
//! The steps have the names that the checked model of the protocol gives them.

/// The end of both statements that claim: of the effects in `over` and then in `free`, as many as fit.
macro_rules! claim_found {
    () => {
        "mine AS (
                SELECT run_id, id, ($5::bigint[])[row_number() OVER ()] AS claim
                FROM (SELECT * FROM over UNION ALL SELECT * FROM free LIMIT $4::bigint) AS found)
            UPDATE effect SET claim = mine.claim, attempt = attempt + 1, worker = $1::text,
            due = clock_timestamp() + make_interval(secs => $2::float8), usage = NULL,
            lost = CASE WHEN usage IS NULL THEN lost ELSE array_append(lost, usage) END
            FROM mine WHERE effect.run_id = mine.run_id AND effect.id = mine.id
            RETURNING effect.run_id, effect.id, effect.claim, effect.attempt, effect.request, effect.class"
    };
}

/// Keeps what effects have cost that are over, those in a part of the statement which a condition names, for a worker.
macro_rules! spend {
    ($ended:literal, $condition:literal, $worker:literal) => {
        concat!(
            "INSERT INTO spending (class, day, worker, cost)
            SELECT class, (clock_timestamp() AT TIME ZONE 'UTC')::date, ",
            $worker,
            "::text, sum((used::jsonb ->> 'cost')::double precision) AS cost
            FROM ",
            $ended,
            " CROSS JOIN LATERAL unnest(array_append(lost, usage)) AS used WHERE ",
            $condition,
            "used::jsonb ? 'cost'
            GROUP BY class
            ON CONFLICT (class, day, worker) DO UPDATE SET cost = spending.cost + excluded.cost"
        )
    };
}

/// How connections of workers are set up. Rows are found by indexes: the tables change so fast that the server has no statistics of them, and may read whole tables without
/// this. A plan that cannot avoid that is then so expensive in the eyes of the server that it would be compiled, which takes a second. A bitmap would be made again and again
/// of entries whose rows are gone, which a scan of an index marks for those after it.
pub const PLANS: &str = "SET jit TO off; SET enable_seqscan TO off; SET enable_hashjoin TO off; SET enable_mergejoin TO off; SET enable_bitmapscan TO off";

/// *Submit*: a run starts to exist, without a leader. Its id, its bundle, the version of that, and its priority.
pub const SUBMIT: &str =
    "WITH made AS (INSERT INTO run (id, status) VALUES ($1::text, 'running') RETURNING id)
    INSERT INTO job (run_id, bundle, format, priority) SELECT id, $2::text, $3::integer, $4::integer FROM made";

/// *Adopt*: a run that is there, with a journal of another machine, may be led from now on, whatever end that has. Its id, its bundle, and the version of that.
pub const ADOPT: &str =
    "INSERT INTO job (run_id, bundle, format, again) SELECT id, $2::text, $3::integer, true FROM run WHERE id = $1::text
    ON CONFLICT DO NOTHING";

/// *Lead*: takes over runs whose lease is over, those of the highest priority first, and then the longest waiting, as many as fit. The name of the process, the seconds
/// of the lease, how many, and the latest version of bundles that it takes: newer ones wait for a newer worker.
pub const LEAD: &str = "WITH free AS (
        SELECT run_id FROM job WHERE state = 'active' AND until <= statement_timestamp() AND format <= $4::integer
        ORDER BY priority DESC, until LIMIT $3::bigint FOR UPDATE SKIP LOCKED)
    UPDATE job SET epoch = epoch + 1, holder = $1::text, until = clock_timestamp() + make_interval(secs => $2::float8)
    FROM free WHERE job.run_id = free.run_id RETURNING job.run_id, job.epoch, job.bundle,
    EXISTS (SELECT 1 FROM journal WHERE journal.run_id = job.run_id), job.again";

/// *Renew*: extends the leases of a process. A run that is missing in the answer is led by another one. The name, the seconds, runs and their epochs.
pub const RENEW: &str = "UPDATE job SET until = clock_timestamp() + make_interval(secs => $2::float8)
    FROM unnest($3::text[], $4::bigint[]) AS mine (run_id, epoch)
    WHERE job.run_id = mine.run_id AND job.epoch = mine.epoch AND job.holder = $1::text AND state = 'active'
    RETURNING job.run_id";

/// The *fence* of each transaction of a leader: nobody takes the run over meanwhile, and who does not lead it any more changes nothing. The run, the epoch and
/// the name.
pub const FENCE: &str =
    "SELECT 1 FROM job WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text
    FOR NO KEY UPDATE";

/// *Settle*, with the lines of the journal that have the outcomes, behind the fence: the effects are over. The run, and the requests.
pub const SETTLE: &str = "DELETE FROM effect WHERE run_id = $1::text AND id = ANY($2::bigint[])";

/// *Request*: effects are to be performed. One that is there already is kept, with its claim and its outcome, unless something else is asked. The run, the
/// epoch, the name, and of each effect its request, fingerprint, class, text, and how many open effects of its class the run has before it.
///
/// Its turn is that many rounds after the present one, so that runs take turns, however many effects each of them has. Answered with those that were made.
/// The round is looked up once, and not for each of thousands of effects.
pub const REQUEST: &str = "WITH mine AS (
        SELECT run_id, priority FROM job WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text FOR NO KEY UPDATE),
    round AS MATERIALIZED (
        SELECT wanted.class, coalesce((
            SELECT turn FROM effect WHERE effect.class = wanted.class AND effect.priority = mine.priority
            AND outcome IS NULL AND claim IS NULL AND due < 'infinity' ORDER BY turn LIMIT 1), 0) AS turn
        FROM mine, (SELECT DISTINCT class FROM unnest($6::text[]) AS wanted (class)) AS wanted)
    INSERT INTO effect (run_id, id, fingerprint, class, request, priority, turn)
    SELECT mine.run_id, wanted.id, wanted.fingerprint, wanted.class, wanted.request, mine.priority, round.turn + wanted.before
    FROM mine, unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[]) AS wanted (id, fingerprint, class, request, before)
    JOIN round ON round.class = wanted.class
    ON CONFLICT (run_id, id) DO UPDATE SET fingerprint = excluded.fingerprint, class = excluded.class,
    request = excluded.request, priority = excluded.priority, turn = excluded.turn, due = clock_timestamp(), claim = NULL, attempt = 0, worker = NULL, usage = NULL,
    lost = '{}', outcome = NULL, taken = NULL WHERE effect.fingerprint <> excluded.fingerprint
    RETURNING id";

/// *Await*, after a request of effects that were there already: outcomes and questions of what was requested are taken, also if this epoch has marked them as taken, be it before the program came to
/// the request or in an answer that was lost; and what an earlier leader held back may be claimed. Runs and requests.
pub const AWAIT: &str = "WITH mine AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS mine (run_id, id)),
    asked AS (
        UPDATE question SET taken = NULL FROM mine
        WHERE question.run_id = mine.run_id AND question.effect_id = mine.id AND answer IS NULL AND taken IS NOT NULL)
    UPDATE effect SET taken = NULL, due = CASE WHEN outcome IS NULL THEN clock_timestamp() ELSE due END FROM mine
    WHERE effect.run_id = mine.run_id AND effect.id = mine.id
    AND (outcome IS NOT NULL AND taken IS NOT NULL OR outcome IS NULL AND claim IS NULL AND due = 'infinity')";

/// *Hold*: the run is paused, so that effects which nobody has claimed wait. The run, the epoch and the name.
pub const HOLD: &str = "WITH mine AS (
        SELECT run_id FROM job WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text FOR NO KEY UPDATE)
    UPDATE effect SET due = 'infinity' FROM mine WHERE effect.run_id = mine.run_id AND claim IS NULL AND outcome IS NULL";

/// *Let go*: the run continues. The run, the epoch and the name.
pub const LET_GO: &str = "WITH mine AS (
        SELECT run_id FROM job WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text FOR NO KEY UPDATE)
    UPDATE effect SET due = clock_timestamp() FROM mine
    WHERE effect.run_id = mine.run_id AND claim IS NULL AND outcome IS NULL AND due = 'infinity'";

/// *Cancel*: effects are not needed any more; what they have cost is kept. Whoever works on one finds it missing. Runs and requests, with the epoch of each and the name.
pub const CANCEL: &str = concat!(
    "WITH mine AS (
        SELECT job.run_id, wanted.id FROM job JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS wanted (run_id, epoch, id)
        ON job.run_id = wanted.run_id AND job.epoch = wanted.epoch AND job.holder = $4::text FOR NO KEY UPDATE OF job),
    gone AS (
        DELETE FROM effect USING mine WHERE effect.run_id = mine.run_id AND effect.id = mine.id
        RETURNING effect.class, effect.lost, effect.usage, effect.outcome)
    ",
    spend!("gone", "outcome IS NULL AND ", "$4")
);

/// *Claim*: effects whose lease is over, and then free ones of some classes, those of the highest priority first, and then those whose turn it is, as many as fit. Classes
/// with quotas are left to [`CLAIM_WITHIN`]. The name of the process, the seconds of the lease, the classes, how many, and a number of its own for each, by which nobody
/// else has it: numbers of the server could be given twice where it loses its last moment.
pub const CLAIM: &str = concat!(
    "WITH wanted AS (
        SELECT class FROM unnest($3::text[]) AS wanted (class)
        WHERE NOT EXISTS (SELECT 1 FROM quota WHERE classes = '{}' OR wanted.class = ANY (classes))),
    over AS (
        SELECT found.run_id, found.id FROM wanted CROSS JOIN LATERAL (
            SELECT run_id, id, due FROM effect WHERE class = wanted.class AND outcome IS NULL AND claim IS NOT NULL AND due <= statement_timestamp()
            ORDER BY due LIMIT $4::bigint FOR UPDATE SKIP LOCKED) AS found
        ORDER BY found.due LIMIT $4::bigint),
    free AS (
        SELECT found.run_id, found.id FROM wanted CROSS JOIN LATERAL (
            SELECT run_id, id, priority, turn, due FROM effect WHERE class = wanted.class AND outcome IS NULL AND claim IS NULL AND due < 'infinity'
            ORDER BY priority DESC, turn, due LIMIT $4::bigint FOR UPDATE SKIP LOCKED) AS found
        ORDER BY found.priority DESC, found.turn, found.due LIMIT $4::bigint),
",
    claim_found!()
);

/// Those of some classes that have quotas. The classes.
pub const LIMITED: &str = "SELECT class FROM unnest($1::text[]) AS wanted (class)
    WHERE EXISTS (SELECT 1 FROM quota WHERE classes = '{}' OR wanted.class = ANY (classes))";

/// Before [`CLAIM_WITHIN`], in the same transaction: nobody else claims within these quotas meanwhile. The classes.
pub const LOCK_QUOTAS: &str =
    "SELECT name FROM quota WHERE classes = '{}' OR classes && $1::text[] ORDER BY name FOR UPDATE";

/// *Claim* of a class with quotas: as many as all of its quotas leave. One whose lease is over is at work already; without money, it waits, too. The
/// parameters of [`CLAIM`], with one class.
pub const CLAIM_WITHIN: &str = concat!(
    "WITH room AS (
        SELECT bool_and(max_cost IS NULL OR spent < max_cost) AS has_money, greatest(least($4::bigint, min(max_parallel - at_work)), 0) AS free
        FROM quota JOIN quota_use USING (name) WHERE classes = '{}' OR $3::text = ANY (classes)),
    over AS (
        SELECT run_id, id FROM effect WHERE class = $3::text AND outcome IS NULL AND claim IS NOT NULL AND due <= statement_timestamp()
        ORDER BY due LIMIT (SELECT CASE WHEN has_money THEN $4::bigint ELSE 0 END FROM room) FOR UPDATE SKIP LOCKED),
    free AS (
        SELECT run_id, id FROM effect WHERE class = $3::text AND outcome IS NULL AND claim IS NULL AND due < 'infinity'
        ORDER BY priority DESC, turn, due LIMIT (SELECT CASE WHEN has_money THEN free ELSE 0 END FROM room) FOR UPDATE SKIP LOCKED),
",
    claim_found!()
);

/// *Heartbeat*: extends claims, and keeps what they have used so far. One that is missing in the answer is another's, or not needed any more. The seconds, and
/// of each the claim, the run, the request and the usage. As in [`COMPLETE`], `num_nulls` says that there is no outcome in a way that keeps the server from reading one of the
/// indexes of all open effects instead of that by which it finds one.
pub const HEARTBEAT: &str = "UPDATE effect SET due = clock_timestamp() + make_interval(secs => $1::float8),
    usage = coalesce(mine.usage, effect.usage)
    FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS mine (claim, run_id, id, usage)
    WHERE effect.run_id = mine.run_id AND effect.id = mine.id AND effect.claim = mine.claim AND num_nulls(outcome) = 1
    RETURNING effect.claim";

/// *Complete*: outcomes are there, of those whose claim still holds, and what they have cost is kept. Of each the claim, the run, the request, the outcome and the usage;
/// and the name of the process. Answered with those whose claim held, and what lost attempts of them had used.
pub const COMPLETE: &str = concat!(
    "WITH done AS (
        UPDATE effect SET outcome = mine.outcome, due = 'infinity'
        FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[]) AS mine (claim, run_id, id, outcome, usage)
        WHERE effect.run_id = mine.run_id AND effect.id = mine.id AND effect.claim = mine.claim AND num_nulls(effect.outcome) = 1
        RETURNING effect.claim, effect.class, effect.lost, mine.usage),
    spent AS (
        ",
    spend!("done", "", "$6"),
    ")
    SELECT claim, lost FROM done"
);

/// *Release*: a claim is given back before its lease is over, such as by a process that ends. The claims.
pub const RELEASE: &str =
    "UPDATE effect SET due = clock_timestamp() WHERE claim = ANY($1::bigint[]) AND outcome IS NULL";

/// *Take*: outcomes that the leaders of this process have not taken yet. Those that are being settled need not be waited for. Runs and their epochs, and how many.
pub const TAKE: &str = "WITH done AS (
        SELECT effect.run_id, effect.id, mine.epoch FROM unnest($1::text[], $2::bigint[]) AS mine (run_id, epoch)
        JOIN effect ON effect.run_id = mine.run_id AND outcome IS NOT NULL AND taken IS DISTINCT FROM mine.epoch
        LIMIT $3::bigint FOR NO KEY UPDATE OF effect SKIP LOCKED)
    UPDATE effect SET taken = done.epoch FROM done WHERE effect.run_id = done.run_id AND effect.id = done.id
    RETURNING effect.run_id, effect.id, effect.lost, effect.outcome";

/// *Take* of outcomes that a notification names, which are read by their keys. They are not marked: whoever takes all of a run finds them again. Runs and requests.
pub const TAKE_NAMED: &str = "SELECT effect.run_id, effect.id, effect.lost, effect.outcome
    FROM unnest($1::text[], $2::bigint[]) AS mine (run_id, id)
    JOIN effect ON effect.run_id = mine.run_id AND effect.id = mine.id WHERE outcome IS NOT NULL";

/// *End*: the run has ended, or cannot be executed, behind the fence; what its open effects have cost is kept. The run, the epoch, the name, and why it is not executed.
pub const END: &str = concat!(
    "WITH ended AS (
        UPDATE job SET state = 'ended', holder = NULL, again = false, problem = $4::text
        WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text RETURNING run_id),
    gone AS (
        DELETE FROM effect USING ended WHERE effect.run_id = ended.run_id
        RETURNING effect.class, effect.lost, effect.usage, effect.outcome)
    ",
    spend!("gone", "outcome IS NULL AND ", "$3")
);

/// *Hand over*: a process that ends gives a run back. The run, the epoch and the name.
pub const HAND_OVER: &str = "UPDATE job SET until = clock_timestamp(), holder = NULL
    WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text AND state = 'active'";

/// *Again*: a run that has ended is executed again from where it stopped, whatever end its journal has. The run, and another bundle with its version, such as with other limits,
/// if it has one.
pub const AGAIN: &str =
    "UPDATE job SET state = 'active', again = true, problem = NULL, until = clock_timestamp(),
    bundle = coalesce($2::text, bundle), format = coalesce($3::integer, format)
    WHERE run_id = $1::text AND state = 'ended'";

/// *Prioritize*: a run that has not ended gets another priority, and so do its effects. The run, and the priority.
pub const PRIORITIZE: &str = "WITH mine AS (
        UPDATE job SET priority = $2::integer WHERE run_id = $1::text AND state = 'active' RETURNING run_id),
    changed AS (UPDATE effect SET priority = $2::integer FROM mine WHERE effect.run_id = mine.run_id AND outcome IS NULL)
    SELECT run_id FROM mine";

/// *Ask*: an agent asks for a permission, which who attends the run decides. The claim, the number of the question, and the question.
pub const ASK: &str = "INSERT INTO question (claim, id, run_id, effect_id, question)
    SELECT $1::bigint, $2::bigint, run_id, id, $3::text FROM effect WHERE claim = $1::bigint AND outcome IS NULL
    ON CONFLICT DO NOTHING";

/// The questions that the leaders of this process have not taken yet. Runs and their epochs.
pub const TAKE_QUESTIONS: &str = "UPDATE question SET taken = mine.epoch
    FROM unnest($1::text[], $2::bigint[]) AS mine (run_id, epoch)
    WHERE question.run_id = mine.run_id AND answer IS NULL AND taken IS DISTINCT FROM mine.epoch
    RETURNING question.run_id, question.effect_id, question.claim, question.id, question.question";

/// *Answer*: the first one counts. The claim, the number of the question, and the answer.
pub const ANSWER: &str = "UPDATE question SET answer = $3::text
    WHERE claim = $1::bigint AND id = $2::bigint AND answer IS NULL";

/// The answers to questions of claims. The claims.
pub const ANSWERS: &str =
    "SELECT claim, id, answer FROM question WHERE claim = ANY($1::bigint[]) AND answer IS NOT NULL";

/// The bundle of a run, for a worker that has a claim of it. The run, and the claim.
pub const BUNDLE: &str = "SELECT bundle FROM job WHERE run_id = $1::text
    AND EXISTS (SELECT 1 FROM effect WHERE run_id = $1::text AND claim = $2::bigint AND outcome IS NULL)";

/// A worker is there, for the time of a lease. Its name, its classes, its slots, its version, and the seconds.
pub const REGISTER: &str = "INSERT INTO worker (name, classes, slots, version, until)
    VALUES ($1::text, $2::text[], $3::bigint, $4::text, clock_timestamp() + make_interval(secs => $5::float8))
    ON CONFLICT (name) DO UPDATE SET classes = excluded.classes, slots = excluded.slots, version = excluded.version,
    until = excluded.until";

/// A worker is not there any more. Its name.
pub const UNREGISTER: &str =
    "DELETE FROM worker WHERE name = $1::text OR until < clock_timestamp() - interval '1 day'";

/// For each class, how many effects are free and how many are claimed, and for how many seconds the oldest one has been free.
pub const QUEUE: &str = "SELECT class, count(*) FILTER (WHERE claim IS NULL), count(*) FILTER (WHERE claim IS NOT NULL),
    coalesce(extract(epoch FROM clock_timestamp() - min(due) FILTER (WHERE claim IS NULL AND due < 'infinity')), 0)::float8
    FROM effect WHERE outcome IS NULL GROUP BY class";

/// How many runs are led, and how many wait for a leader.
pub const RUNS: &str = "SELECT count(*) FILTER (WHERE holder IS NOT NULL AND until > statement_timestamp()),
    count(*) FILTER (WHERE holder IS NULL OR until <= statement_timestamp()) FROM job WHERE state = 'active'";

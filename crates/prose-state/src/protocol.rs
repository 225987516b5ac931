//! The protocol by which processes share the runs of a cluster: the statements, each of which is a step that is atomic.
//!
//! A run has one *leader*, which executes its program, and its requests to agents are *effects*, which any *worker* performs. Whoever has something has it for
//! the time of a lease by the clock of the server, and takes another one meanwhile. What is decided is decided by the server: a process that was stopped for
//! longer than its lease finds out by the first statement that it sends, whatever it believes.
//!
//! The steps have the names that the checked model of the protocol gives them.

/// *Submit*: a run starts to exist, without a leader. Its id, and its bundle.
pub const SUBMIT: &str =
    "WITH made AS (INSERT INTO run (id, status) VALUES ($1::text, 'running') RETURNING id)
    INSERT INTO job (run_id, bundle) SELECT id, $2::text FROM made";

/// *Lead*: takes over runs whose lease is over, the longest waiting first, as many as fit. The name of the process, the seconds of the lease, and how many.
pub const LEAD: &str = "WITH free AS (
        SELECT run_id FROM job WHERE state = 'active' AND until <= clock_timestamp()
        ORDER BY until LIMIT $3::bigint FOR UPDATE SKIP LOCKED)
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
/// epoch, the name, and of each effect its request, fingerprint, class and text.
pub const REQUEST: &str = "WITH mine AS (
        SELECT run_id FROM job WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text FOR NO KEY UPDATE)
    INSERT INTO effect (run_id, id, fingerprint, class, request)
    SELECT mine.run_id, wanted.* FROM mine, unnest($4::bigint[], $5::text[], $6::text[], $7::text[]) AS wanted
    ON CONFLICT (run_id, id) DO UPDATE SET fingerprint = excluded.fingerprint, class = excluded.class,
    request = excluded.request, due = clock_timestamp(), claim = NULL, attempt = 0, worker = NULL, usage = NULL,
    lost = '{}', outcome = NULL, taken = NULL WHERE effect.fingerprint <> excluded.fingerprint";

/// *Await*, after each request: outcomes and questions of what was requested are taken, also if this epoch has marked them as taken, be it before the program came to
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

/// *Cancel*: effects are not needed any more. Whoever works on one finds it missing. Runs and requests, with the epoch of each and the name.
pub const CANCEL: &str = "WITH mine AS (
        SELECT job.run_id, wanted.id FROM job JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS wanted (run_id, epoch, id)
        ON job.run_id = wanted.run_id AND job.epoch = wanted.epoch AND job.holder = $4::text FOR NO KEY UPDATE OF job)
    DELETE FROM effect USING mine WHERE effect.run_id = mine.run_id AND effect.id = mine.id";

/// *Claim*: the oldest free effects of some classes, and those whose lease is over, as many as fit. The name of the process, the seconds of the lease, the
/// classes, how many, and a number of its own for each, by which nobody else has it: numbers of the server could be given twice where it loses its last moment.
pub const CLAIM: &str = "WITH free AS (
        SELECT found.run_id, found.id, ($5::bigint[])[row_number() OVER ()] AS claim FROM unnest($3::text[]) AS wanted (class) CROSS JOIN LATERAL (
            SELECT run_id, id, due FROM effect WHERE class = wanted.class AND outcome IS NULL AND due <= clock_timestamp()
            ORDER BY due LIMIT $4::bigint FOR UPDATE SKIP LOCKED) AS found
        ORDER BY found.due LIMIT $4::bigint)
    UPDATE effect SET claim = free.claim, attempt = attempt + 1, worker = $1::text,
    due = clock_timestamp() + make_interval(secs => $2::float8), usage = NULL,
    lost = CASE WHEN usage IS NULL THEN lost ELSE array_append(lost, usage) END
    FROM free WHERE effect.run_id = free.run_id AND effect.id = free.id
    RETURNING effect.run_id, effect.id, effect.claim, effect.attempt, effect.request";

/// *Heartbeat*: extends claims, and keeps what they have used so far. One that is missing in the answer is another's, or not needed any more. The seconds, and
/// of each the claim, the run, the request and the usage.
pub const HEARTBEAT: &str = "UPDATE effect SET due = clock_timestamp() + make_interval(secs => $1::float8),
    usage = coalesce(mine.usage, effect.usage)
    FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS mine (claim, run_id, id, usage)
    WHERE effect.run_id = mine.run_id AND effect.id = mine.id AND effect.claim = mine.claim AND outcome IS NULL
    RETURNING effect.claim";

/// *Complete*: outcomes are there, of those whose claim still holds. Of each the claim, the run, the request and the outcome.
pub const COMPLETE: &str = "UPDATE effect SET outcome = mine.outcome, due = 'infinity'
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) AS mine (claim, run_id, id, outcome)
    WHERE effect.run_id = mine.run_id AND effect.id = mine.id AND effect.claim = mine.claim AND effect.outcome IS NULL
    RETURNING effect.claim";

/// *Release*: a claim is given back before its lease is over, such as by a process that ends. The claims.
pub const RELEASE: &str =
    "UPDATE effect SET due = clock_timestamp() WHERE claim = ANY($1::bigint[]) AND outcome IS NULL";

/// *Take*: outcomes that the leaders of this process have not taken yet. Runs and their epochs, and how many.
pub const TAKE: &str = "WITH done AS (
        SELECT effect.run_id, effect.id, mine.epoch FROM unnest($1::text[], $2::bigint[]) AS mine (run_id, epoch)
        JOIN effect ON effect.run_id = mine.run_id AND outcome IS NOT NULL AND taken IS DISTINCT FROM mine.epoch
        LIMIT $3::bigint)
    UPDATE effect SET taken = done.epoch FROM done WHERE effect.run_id = done.run_id AND effect.id = done.id
    RETURNING effect.run_id, effect.id, effect.lost, effect.outcome";

/// *End*: the run has ended, or cannot be executed, behind the fence. The run, the epoch, the name, and why it is not executed.
pub const END: &str = "WITH ended AS (
        UPDATE job SET state = 'ended', holder = NULL, again = false, problem = $4::text
        WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text RETURNING run_id)
    DELETE FROM effect USING ended WHERE effect.run_id = ended.run_id";

/// *Hand over*: a process that ends gives a run back. The run, the epoch and the name.
pub const HAND_OVER: &str = "UPDATE job SET until = clock_timestamp(), holder = NULL
    WHERE run_id = $1::text AND epoch = $2::bigint AND holder = $3::text AND state = 'active'";

/// *Again*: a run that has ended is executed again from where it stopped, whatever end its journal has. The run.
pub const AGAIN: &str =
    "UPDATE job SET state = 'active', again = true, problem = NULL, until = clock_timestamp()
    WHERE run_id = $1::text AND state = 'ended'";

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

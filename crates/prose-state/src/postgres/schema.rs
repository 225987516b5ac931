//! The tables of a PostgreSQL database.

/// The version of the tables that this version of `prose` writes and the latest that it reads. Each is the number of the last one of the [`MIGRATIONS`].
pub(crate) const VERSION: i32 = MIGRATIONS.len() as i32;

/// What leads from each version of the tables to the next one. One that was released stays as it is.
pub(crate) const MIGRATIONS: [&str; 5] = [FIRST, CLUSTER, QUOTAS, FUNCTIONS, LARGE_TEXTS];

/// The functions of workers, which every migration makes again ([`super::roles`]).
const FUNCTIONS: &str = "";

/// Large texts are not compressed by the default method, which takes a second for each 20 MiB. Requests and outcomes are there for a moment. Lines of
/// the journal stay there: they are compressed by a method that costs little, if the server was built with it. The functions of workers have changed as well.
const LARGE_TEXTS: &str = "
ALTER TABLE effect ALTER COLUMN request SET STORAGE EXTERNAL, ALTER COLUMN outcome SET STORAGE EXTERNAL;
DO $$ BEGIN ALTER TABLE journal ALTER COLUMN line SET COMPRESSION lz4; EXCEPTION WHEN feature_not_supported THEN
    ALTER TABLE journal ALTER COLUMN line SET STORAGE EXTERNAL; END $$;
";

/// Makes the table of the versions, which is there in all of them.
pub(crate) const PREPARE: &str = "
CREATE TABLE IF NOT EXISTS migration (
    version INTEGER PRIMARY KEY,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
";

/// The documented tables (R119), with the keys that cannot have expressions as indexes (F13), with `execution.updated_at` as in SQLite, and with the ids of
/// `execution` counted in each run, so that an execution that repeats what was recorded writes the same rows again. `journal` is added.
const FIRST: &str = "
CREATE TABLE run (
    id TEXT PRIMARY KEY,
    program_path TEXT,
    program_source TEXT,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed', 'interrupted')),
    state_mode TEXT NOT NULL DEFAULT 'postgres',
    metadata JSONB NOT NULL DEFAULT '{}'
);
CREATE TABLE journal (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    start BIGINT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (run_id, start)
);
CREATE TABLE execution (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id BIGINT NOT NULL,
    statement_index BIGINT,
    statement_text TEXT,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'executing', 'completed', 'failed', 'skipped')),
    started_at TIMESTAMPTZ,
    updated_at TIMESTAMPTZ,
    completed_at TIMESTAMPTZ,
    error_message TEXT,
    parent_id BIGINT,
    metadata JSONB NOT NULL DEFAULT '{}',
    PRIMARY KEY (run_id, id)
);
CREATE INDEX execution_status ON execution (run_id, status);
CREATE INDEX execution_parent ON execution (run_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE bindings (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    execution_id BIGINT,
    kind TEXT NOT NULL,
    value TEXT,
    source_statement TEXT,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    attachment_path TEXT,
    metadata JSONB NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX bindings_key ON bindings (name, run_id, coalesce(execution_id, -1));
CREATE INDEX bindings_run ON bindings (run_id);
CREATE TABLE agents (
    run_id TEXT REFERENCES run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('execution', 'project', 'user', 'custom')),
    memory TEXT,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    metadata JSONB NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX agents_key ON agents (name, coalesce(run_id, '__project__'));
CREATE INDEX agents_run ON agents (run_id) WHERE run_id IS NOT NULL;
CREATE TABLE agent_segments (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT REFERENCES run (id) ON DELETE CASCADE,
    agent_name TEXT NOT NULL,
    segment_number BIGINT NOT NULL,
    timestamp TIMESTAMPTZ NOT NULL DEFAULT now(),
    prompt TEXT,
    summary TEXT,
    metadata JSONB NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX agent_segments_key
    ON agent_segments (agent_name, coalesce(run_id, '__project__'), segment_number);
CREATE TABLE imports (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    alias TEXT NOT NULL,
    source_url TEXT NOT NULL,
    fetched_at TIMESTAMPTZ,
    inputs_schema JSONB,
    outputs_schema JSONB,
    content_hash TEXT,
    metadata JSONB NOT NULL DEFAULT '{}',
    PRIMARY KEY (alias, run_id)
);
";

/// What runs of clusters have beside their state: who leads them, what is to be done, and what they are asked (docs/cluster.md).
///
/// `effect.due` is when an effect may be claimed: for a free one the time at which it was made, so that the oldest comes first, for a claimed one the end of
/// the lease, and never for one that is done. `claim` is never given twice.
const CLUSTER: &str = "
CREATE TABLE job (
    run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    bundle TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'ended')),
    problem TEXT,
    again BOOLEAN NOT NULL DEFAULT false,
    epoch BIGINT NOT NULL DEFAULT 0,
    holder TEXT,
    until TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX job_free ON job (until) WHERE state = 'active';
CREATE TABLE effect (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id BIGINT NOT NULL,
    fingerprint TEXT NOT NULL,
    class TEXT NOT NULL,
    request TEXT NOT NULL,
    due TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    claim BIGINT,
    attempt INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    usage TEXT,
    lost TEXT[] NOT NULL DEFAULT '{}',
    outcome TEXT,
    taken BIGINT,
    PRIMARY KEY (run_id, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX effect_open ON effect (class, due) WHERE outcome IS NULL;
CREATE INDEX effect_done ON effect (run_id) WHERE outcome IS NOT NULL;
CREATE TABLE message (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    reply TEXT,
    made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX message_open ON message (run_id) WHERE reply IS NULL;
CREATE TABLE question (
    claim BIGINT NOT NULL,
    id BIGINT NOT NULL,
    run_id TEXT NOT NULL,
    effect_id BIGINT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    taken BIGINT,
    PRIMARY KEY (claim, id),
    FOREIGN KEY (run_id, effect_id) REFERENCES effect (run_id, id) ON DELETE CASCADE
);
CREATE INDEX question_run ON question (run_id, effect_id);
CREATE TABLE worker (
    name TEXT PRIMARY KEY,
    classes TEXT[] NOT NULL,
    slots INTEGER NOT NULL,
    version TEXT NOT NULL,
    until TIMESTAMPTZ NOT NULL
);
";

/// What decides whose turn it is: the priority of a run and the turns of its effects, and quotas of harnesses over all runs (docs/cluster.md).
///
/// `job.format` is the version of the bundle. `effect.turn` counts in rounds, in each of which every run with free effects of a class and a priority comes once.
/// `quota.classes` is empty for all classes. `spending` has what ended effects have cost; what open ones have cost so far is in their rows.
const QUOTAS: &str = "
ALTER TABLE job
    ADD COLUMN format INTEGER NOT NULL DEFAULT 1,
    ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
DROP INDEX job_free;
CREATE INDEX job_next ON job (priority DESC, until) WHERE state = 'active';
ALTER TABLE effect
    ADD COLUMN priority INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
DROP INDEX effect_open;
CREATE INDEX effect_free ON effect (class, priority DESC, turn, due)
    WHERE outcome IS NULL AND claim IS NULL AND due < 'infinity';
CREATE INDEX effect_claimed ON effect (class, due) WHERE outcome IS NULL AND claim IS NOT NULL;
CREATE TABLE quota (
    name TEXT PRIMARY KEY,
    classes TEXT[] NOT NULL,
    max_parallel BIGINT CHECK (max_parallel >= 0),
    max_cost DOUBLE PRECISION CHECK (max_cost >= 0),
    period TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'ever'))
);
CREATE TABLE spending (
    class TEXT NOT NULL,
    day DATE NOT NULL,
    worker TEXT NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (class, day, worker)
);
CREATE VIEW quota_use AS
    SELECT quota.name, open.at_work, open.cost + ended.cost AS spent FROM quota
    CROSS JOIN LATERAL (
        SELECT count(*) AS at_work, coalesce(sum(used.cost), 0) AS cost FROM effect CROSS JOIN LATERAL (
            SELECT sum((text::jsonb ->> 'cost')::double precision) AS cost
            FROM unnest(array_append(effect.lost, effect.usage)) AS text) AS used
        WHERE (quota.classes = '{}' OR effect.class = ANY (quota.classes)) AND effect.outcome IS NULL AND effect.claim IS NOT NULL) AS open
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(spending.cost), 0) AS cost FROM spending
        WHERE (quota.classes = '{}' OR spending.class = ANY (quota.classes)) AND spending.day >= CASE quota.period
            WHEN 'ever' THEN '-infinity'
            ELSE date_trunc(quota.period, clock_timestamp() AT TIME ZONE 'UTC') END) AS ended;
";

-- A change that takes several steps in the engine, written down before the first of them. `before` and `target` are
-- what the planner works from; lease_* say which process is at it.
create table operations (
  id uuid primary key,
  db_id uuid not null references containers (db_id),
  kind text not null check (kind in ('create', 'start', 'stop', 'update', 'delete', 'restore')),
  phase text not null default 'forward' check (phase in ('forward', 'back', 'committed')),
  before jsonb not null,
  target jsonb not null,
  carry_over boolean not null default false,
  verified boolean not null default false,
  volume_kept boolean,
  fresh_runtime_id text,
  fresh_image text,
  left_behind jsonb,
  step text not null default 'begin',
  requested_by uuid not null references users (id),
  ip_address text not null,
  user_agent text not null,
  lease_owner uuid not null,
  lease_until timestamptz not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  outcome text check (outcome in ('done', 'unchanged', 'failed'))
);

-- At most one at a time for a container.
create unique index operations_active on operations (db_id) where finished_at is null;
create index operations_lease on operations (lease_until) where finished_at is null;

-- What happened, written with the change. Readers go by (xid, position) below the oldest running transaction, so
-- that a slow transaction cannot commit behind their back.
create table events (
  position bigserial primary key,
  xid xid8 not null default pg_current_xact_id(),
  db_id uuid not null,
  owner_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null default now()
);

create index events_order on events (xid, position);

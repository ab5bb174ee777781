-- Processes that clients have started in containers. Their output and input are in the container.
create table processes (
  id uuid primary key,
  db_id uuid not null references containers (db_id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  runtime_id text not null,
  name text not null,
  command jsonb not null,
  takes_input boolean not null,
  state text not null default 'starting' check (state in ('starting', 'running', 'ended')),
  pid int,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  ended_by text check (
    ended_by in ('exit', 'signal', 'timeout', 'container_stopped', 'lost', 'not_started')
  ),
  exit_code int,
  check ((state = 'ended') = (ended_at is not null)),
  check ((state = 'ended') = (ended_by is not null))
);

create index processes_container on processes (db_id, started_at desc, id desc);
create index processes_active on processes (user_id) where state <> 'ended';
create index processes_ended on processes (ended_at) where state = 'ended';

-- Recordings of terminals. The bytes are a file in the folder `recordings` of the replica that made it, named by the id.
-- They outlive their container, whose name is kept here as it was.
create table recordings (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  container_id uuid not null,
  container_name text not null,
  connection_id text not null,
  cols int not null,
  rows int not null,
  state text not null default 'recording' check (state in ('recording', 'ended', 'truncated')),
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  duration_ms bigint not null default 0 check (duration_ms >= 0),
  replica uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- When the process that records was heard of last.
  seen_at timestamptz not null default clock_timestamp(),
  check ((state = 'recording') = (ended_at is null))
);

create index recordings_user on recordings (user_id, created_at desc, id desc);
create index recordings_running on recordings (seen_at) where state = 'recording';
create index recordings_running_in on recordings (container_id) where state = 'recording';

-- When a container ends by itself, what it is for, and the warnings given about its end.
alter table containers
  add column labels jsonb not null default '{}',
  add column ephemeral boolean not null default false,
  add column ends_at timestamptz,
  add column idle_seconds int check (idle_seconds > 0),
  add column on_idle text not null default 'stop' check (on_idle in ('stop', 'delete')),
  add column kept_until timestamptz,
  add column warned_end timestamptz,
  add column warned_lead int,
  add column warned_at timestamptz;

create index containers_lifetime on containers (db_id)
  where state <> 'deleted' and (ends_at is not null or idle_seconds is not null);

-- The last use of each kind. A use that goes on is recorded again every few seconds.
create table container_activity (
  db_id uuid not null references containers (db_id) on delete cascade,
  kind text not null,
  last_at timestamptz not null,
  primary key (db_id, kind)
);

-- The service itself ends a container at the end of its time: nobody requested that, and the reason is shown.
alter table operations alter column requested_by drop not null;
alter table operations add column reason text;

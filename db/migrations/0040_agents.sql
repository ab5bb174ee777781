-- A machine of a user's own that connects to the service: a row of containers whose node is 'agent'.
create table agents (
  db_id uuid primary key references containers (db_id) on delete cascade,
  owner_id uuid not null references users (id),
  -- The id that the machine made for itself. The same one may serve several users, as an agent each.
  machine_id uuid not null,
  platform text not null,
  state text not null check (state in ('connected', 'away', 'stopped', 'forgotten')),
  -- Counts the connections; the present one while connected.
  epoch int not null,
  -- The process with the connection.
  replica uuid,
  last_seen_at timestamptz not null default now(),
  check ((state = 'connected') = (replica is not null))
);

create unique index agents_machine on agents (owner_id, machine_id) where state <> 'forgotten';
create index agents_replica on agents (replica) where replica is not null;

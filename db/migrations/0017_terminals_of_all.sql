-- What administrators see of a terminal, so that every process can list those of all. What was there says too little of
-- terminals that ended with the process that wrote it.
truncate terminal_records;
alter table terminal_records
  add column terminal_key text not null,
  add column connection_id text not null,
  add column mux_session text,
  add column owner boolean not null,
  add column cols int not null,
  add column rows int not null,
  add column replica uuid not null,
  -- An administrator wants it closed; the process that has it does so.
  add column closing boolean not null default false;

create index terminal_records_key on terminal_records (terminal_key, created_at desc, id desc);
create index terminal_records_replica on terminal_records (replica);

-- Programs' terminals in containers, by the marker in their environment: written before one is opened, removed when it has
-- ended there. What a killed process leaves is found by its row.
create table terminal_holds (
  stream uuid primary key,
  container_id uuid not null references containers (db_id) on delete cascade,
  runtime_id text not null,
  mux_session text not null,
  replica uuid not null,
  -- One start of a replica: what an earlier one held, nobody holds.
  run uuid not null
);

create index terminal_holds_container on terminal_holds (container_id);

-- Which of them live, by when they last said so.
create table replica_runs (
  run uuid primary key,
  seen_at timestamptz not null
);

-- How commands that their clients can resume have ended, for a client whose service was restarted.
create table command_runs (
  -- of user, container and the client's name of the command
  name_hash bytea primary key,
  -- the process of the service that reads the command
  replica uuid not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- null: its time limit ended it
  exit_code int,
  output_bytes bigint,
  check ((ended_at is null) = (output_bytes is null))
);

create index command_runs_started on command_runs (started_at);
create index command_runs_ended on command_runs (ended_at);

-- One-time codes, each for one API token of a machine. Used or over, they are removed.
create table agent_enrolments (
  code_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null
);

create index agent_enrolments_user on agent_enrolments (user_id, expires_at);

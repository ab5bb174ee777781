-- The newest output of processes, for when their container has it no longer. Counted by the container's owner.
create table process_outputs (
  process_id uuid primary key references processes (id) on delete cascade,
  owner_id uuid not null references users (id) on delete cascade,
  stdout bytea not null,
  stdout_first bigint not null,
  stderr bytea not null,
  stderr_first bigint not null,
  -- Whether the process had ended when its output was copied.
  is_whole boolean not null,
  stored_at timestamptz not null default clock_timestamp()
);

create index process_outputs_owner on process_outputs (owner_id, stored_at desc);

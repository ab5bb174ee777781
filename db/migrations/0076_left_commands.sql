-- Commands whose process left them without an exit: it ended them, or nobody saw their end.
alter table command_runs
  add column left_at timestamptz,
  add column left_as text check (left_as in ('abandoned', 'unknown')),
  add constraint command_runs_left check ((left_at is null) = (left_as is null));

create index command_runs_left_at on command_runs (left_at);

-- The operation that takes a snapshot, and creates that start from one.
alter table operations drop constraint operations_kind_check;
alter table operations
  add constraint operations_kind_check
    check (kind in ('create', 'start', 'stop', 'update', 'delete', 'restore', 'snapshot')),
  add column snapshot_id uuid references snapshots (id),
  -- The operation has paused the container, or was about to.
  add column paused boolean not null default false,
  add column volume_copied boolean not null default false;

create index operations_snapshot on operations (snapshot_id) where snapshot_id is not null;

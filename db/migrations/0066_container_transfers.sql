-- The operation that gives a container to another user. Until it ends, the container counts for that user as well.
alter table operations drop constraint operations_kind_check;
alter table operations
  add constraint operations_kind_check
    check (kind in ('create', 'start', 'stop', 'update', 'delete', 'restore', 'snapshot', 'transfer')),
  add column new_owner_id uuid references users (id),
  add constraint operations_new_owner_check check ((kind = 'transfer') = (new_owner_id is not null));

create index operations_incoming on operations (new_owner_id) where finished_at is null and new_owner_id is not null;

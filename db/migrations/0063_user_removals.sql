-- A deleted user keeps the row, which the audit and kept containers refer to. The names are free again.
alter table users add column deleted_at timestamptz check (deleted_at is null or disabled_at is not null);
drop index users_username;
create unique index users_username on users (lower(username)) where deleted_at is null;

-- Users who are being deleted: what becomes of their containers. Written first, removed with the last step.
create table user_removals (
  user_id uuid primary key references users (id),
  containers text not null check (containers in ('delete', 'transfer')),
  to_user uuid references users (id),
  requested_by uuid not null references users (id),
  ip_address text not null,
  user_agent text not null,
  requested_at timestamptz not null default now(),
  check ((containers = 'transfer') = (to_user is not null))
);

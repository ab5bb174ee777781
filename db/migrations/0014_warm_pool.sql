-- Containers that are started before anybody asks for them. A row is written before its container is made and goes in
-- the transaction that gives it to somebody, where the container's own row takes its place. lease_* say who is making
-- or removing it, so that what a killed process leaves is removed.
create table warm_pool (
  db_id uuid primary key,
  state text not null check (state in ('making', 'ready', 'removing')),
  node text not null,
  image text not null,
  -- What the reference stood for when the container was made of it.
  image_id text not null,
  memory_mb int not null,
  cpu_millicores int not null,
  disk_mb int not null,
  volume text not null unique,
  runtime_id text,
  lease_owner uuid not null,
  lease_until timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  check (state <> 'ready' or runtime_id is not null)
);

-- The container of this create comes from the pool and still has the limits that it was made with.
alter table operations add column unfitted boolean not null default false;

-- A container's files at one time: an image of its layer and a copy of its volume. Removed like the volume of a deleted
-- container: deleted, condemned when the retention is over, claimed a day later, removed. A purged one is due at once.
-- The container may no longer exist. `fork_ids`: the containers that it was taken for; then it is in no list.
create table snapshots (
  id uuid primary key,
  owner_id uuid not null references users (id),
  db_id uuid not null,
  container_name text not null,
  name text not null,
  note text not null default '',
  labels jsonb not null default '{}',
  state text not null default 'creating' check (state in ('creating', 'ready', 'failed')),
  image_key text not null,
  image text not null,
  shell text not null,
  role text not null,
  role_setup_status text not null,
  memory_mb int not null,
  cpu_millicores int not null,
  disk_mb int not null,
  layer_image text,
  layer_changes jsonb,
  volume text not null,
  layer_mb int not null,
  volume_mb int not null,
  fork_ids uuid[],
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  condemned_at timestamptz,
  purged_at timestamptz,
  claimed_at timestamptz,
  removed_at timestamptz
);

create unique index snapshots_name on snapshots (owner_id, name)
  where deleted_at is null and state <> 'failed' and fork_ids is null;
create index snapshots_owner on snapshots (owner_id, created_at) where removed_at is null;
create index snapshots_leaving on snapshots (id)
  where removed_at is null and (deleted_at is not null or purged_at is not null or fork_ids is not null);

-- How many snapshots a user may have, and the disk that they may use together.
alter table tiers
  add column max_snapshots int not null default 5 check (max_snapshots >= 0),
  add column snapshot_mb int not null default 10240 check (snapshot_mb >= 0);
update tiers set max_snapshots = 1, snapshot_mb = 2048 where name = 'guest';
update tiers set max_snapshots = 20, snapshot_mb = 40960 where name = 'pro';
update tiers set max_snapshots = 50, snapshot_mb = 204800 where name = 'enterprise';

create table tiers (
  name text primary key,
  position int not null,
  min_memory_mb int not null check (min_memory_mb > 0),
  max_memory_mb int not null check (max_memory_mb >= min_memory_mb),
  min_cpu_millicores int not null check (min_cpu_millicores > 0),
  max_cpu_millicores int not null check (max_cpu_millicores >= min_cpu_millicores),
  min_disk_mb int not null check (min_disk_mb > 0),
  max_disk_mb int not null check (max_disk_mb >= min_disk_mb),
  max_containers int not null check (max_containers >= 0),
  max_agents int not null check (max_agents >= 0)
);

insert into tiers values
  ('guest',      1, 256,  512, 100,  500, 512,  2048,  1,  0),
  ('free',       2, 256, 2048, 100, 2000, 512, 10240,  5,  2),
  ('pro',        3, 256, 4096, 100, 4000, 512, 20480, 10, 10),
  ('enterprise', 4, 256, 8192, 100, 8000, 512, 51200, 20, 25);

create table images (
  key text primary key,
  label text not null,
  reference text not null,
  digest text,
  shell text not null default '/bin/bash'
);

insert into images (key, label, reference) values ('debian', 'Debian 12', 'berth/debian:12');

create table roles (
  key text primary key,
  label text not null
);

insert into roles values ('standard', 'Standard');

create table settings (
  key text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);

-- One row for the installation: its id is in the labels of all that it makes in an engine.
create table installation (
  only_row boolean primary key default true check (only_row),
  id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  -- SHA-256 of the one-time set-up code; null once the first administrator exists.
  setup_code_hash bytea
);

insert into installation default values;

create table users (
  id uuid primary key default gen_random_uuid(),
  email text,
  username text not null,
  password_hash text,
  role text not null default 'user' check (role in ('user', 'admin')),
  tier text not null references tiers (name),
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  guest_until timestamptz
);

create unique index users_email on users (lower(email));
create unique index users_username on users (lower(username));

create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id),
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ip_address text not null,
  user_agent text not null,
  revoked_at timestamptz,
  revoked_reason text
);

create index sessions_user on sessions (user_id, created_at desc);

create table refresh_tokens (
  hash bytea primary key,
  session_id uuid not null references sessions (id),
  created_at timestamptz not null default now(),
  spent_at timestamptz,
  spent_by text
);

create index refresh_tokens_session on refresh_tokens (session_id);

create table containers (
  db_id uuid primary key,
  owner_id uuid not null references users (id),
  name text not null,
  image_key text not null,
  image text not null,
  shell text not null,
  role text not null,
  memory_mb int not null,
  cpu_millicores int not null,
  disk_mb int not null,
  env jsonb not null default '{}',
  state text not null check (
    state in ('creating', 'starting', 'running', 'stopping', 'stopped', 'updating', 'failed', 'deleted')
  ),
  state_reason text,
  generation int not null default 1,
  node text not null,
  runtime_id text,
  volume text not null unique,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  started_at timestamptz,
  deleted_at timestamptz
);

create unique index containers_live_name on containers (owner_id, name) where state <> 'deleted';
create unique index containers_runtime_id on containers (runtime_id text_pattern_ops);
create index containers_owner on containers (owner_id, created_at desc);

create table audit_records (
  id uuid primary key default gen_random_uuid(),
  user_id uuid,
  action text not null,
  ip_address text not null,
  user_agent text not null,
  details text not null,
  created_at timestamptz not null default now()
);

create index audit_records_user on audit_records (user_id, created_at desc);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end $$;

create trigger audit_records_append_only before update or delete or truncate on audit_records
  for each statement execute function refuse_change();

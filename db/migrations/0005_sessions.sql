-- Terminal sessions that are open now, of every process, for administrators. Lost with a crash, as they are themselves.
create unlogged table terminal_records (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  container_id uuid not null references containers (db_id) on delete cascade,
  created_at timestamptz not null default now(),
  last_ping_at timestamptz not null default now()
);

create index terminal_records_ping on terminal_records (last_ping_at);

create table ssh_keys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  name text not null check (char_length(name) between 1 and 100),
  type text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null default now()
);

create unique index ssh_keys_user on ssh_keys (user_id, fingerprint);
create index ssh_keys_fingerprint on ssh_keys (fingerprint);

-- Pages go by time, and by id where that is the same.
create index users_created on users (created_at desc, id desc);
drop index audit_records_user;
create index audit_records_user on audit_records (user_id, created_at desc, id desc);
create index audit_records_created on audit_records (created_at desc, id desc);

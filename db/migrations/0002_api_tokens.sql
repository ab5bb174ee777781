-- Of a token's secret only the SHA-256 and the first characters are kept.
create table api_tokens (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  name text not null check (char_length(name) between 1 and 100),
  hash bytea not null check (octet_length(hash) = 32),
  prefix text not null check (char_length(prefix) = 12),
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['read', 'write', 'admin']),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create unique index api_tokens_hash on api_tokens (hash);
create index api_tokens_user on api_tokens (user_id, created_at desc);

-- Requests of one credential or address in one minute since 1970. Unlogged: a crash may forget a minute's counts.
create unlogged table request_counts (
  key text not null,
  minute int not null,
  count int not null,
  primary key (key, minute)
);

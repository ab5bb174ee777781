-- Requests that their sender may repeat without doing things twice. A row without a status is being worked on by
-- `holder`, until its lease ends.
create table idempotency_keys (
  user_id uuid not null references users (id),
  route text not null,
  key text not null,
  body_hash bytea not null,
  holder uuid not null unique,
  lease_until timestamptz not null,
  -- Id of what was made, written together with it.
  subject text,
  status int,
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (user_id, route, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

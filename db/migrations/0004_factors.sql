alter table users
  add column passcode_hash text,
  add column auto_lock_minutes int check (auto_lock_minutes between 1 and 1440);

alter table sessions
  add column locked_at timestamptz,
  add column wrong_passcodes int not null default 0;

create table totp_factors (
  user_id uuid primary key references users (id) on delete cascade,
  -- Encrypted with a key that the database does not hold.
  sealed_secret bytea not null,
  created_at timestamptz not null default now(),
  confirmed_at timestamptz,
  last_step int not null default 0
);

create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (user_id, hash)
);

create table passkeys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports jsonb not null,
  backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create index passkeys_user on passkeys (user_id, created_at);

-- Waiting sign-ins and challenges: of one use, and gone after minutes.
create table pending_proofs (
  hash bytea primary key,
  purpose text not null check (
    purpose in ('second_factor', 'passkey_registration', 'passkey_sign_in', 'passkey_second_factor')
  ),
  user_id uuid references users (id) on delete cascade,
  expires_at timestamptz not null,
  tries int not null default 0
);

create index pending_proofs_expiry on pending_proofs (expires_at);
create index pending_proofs_user on pending_proofs (user_id);

-- Failed guesses by the digest of what they are counted for.
create table failures (
  key bytea primary key,
  count double precision not null,
  at timestamptz not null
);

create index failures_at on failures (at);

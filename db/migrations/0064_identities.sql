-- People at OpenID providers, each connected to one account.
create table identities (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  issuer text not null,
  subject text not null,
  -- what the provider last said; it identifies nobody
  email text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (issuer, subject)
);

create index identities_user on identities (user_id, created_at);

-- Sign-ins at a provider that are not complete: of one use, and gone after minutes.
create table provider_sign_ins (
  id uuid primary key default gen_random_uuid(),
  state_hash bytea not null unique,
  browser_hash bytea not null,
  purpose text not null check (purpose in ('sign_in', 'link', 'confirm')),
  -- the session that connects or confirms; null for a sign-in
  session_id uuid references sessions (id) on delete cascade,
  nonce text not null,
  code_verifier text not null,
  return_path text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null,
  spent_at timestamptz,
  -- what the provider said, once it is verified; the ID token is encrypted
  claims jsonb,
  sealed_id_token bytea,
  check ((purpose = 'sign_in') = (session_id is null))
);

create index provider_sign_ins_expiry on provider_sign_ins (expires_at);
create index provider_sign_ins_session on provider_sign_ins (session_id);

-- Sessions that a provider's sign-in opened, so that its sign-out ends them.
create table provider_sessions (
  session_id uuid primary key references sessions (id) on delete cascade,
  issuer text not null,
  subject text not null,
  provider_sid text,
  sealed_id_token bytea
);

create index provider_sessions_person on provider_sessions (issuer, subject);
create index provider_sessions_sid on provider_sessions (issuer, provider_sid);

-- Digests of logout tokens, so that none works twice.
create table used_logout_tokens (
  hash bytea primary key,
  expires_at timestamptz not null
);

create index used_logout_tokens_expiry on used_logout_tokens (expires_at);

-- The provider's session of a sign-in that lacks its second factor.
alter table pending_proofs add column provider jsonb;

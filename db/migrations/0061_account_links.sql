-- One-time links: an invitation makes an account, the others change how one is opened. Of the code only its SHA-256 is
-- kept.
create table account_links (
  id uuid primary key default gen_random_uuid(),
  code_hash bytea not null unique,
  kind text not null check (kind in ('invitation', 'password', 'second_factor')),
  -- of invitations: what the account will have. The tier is checked again when the account is made.
  role text check (role in ('user', 'admin')),
  tier text,
  email text,
  username text,
  -- the account that the link changes; of an invitation, the one that it made
  user_id uuid references users (id) on delete cascade,
  created_by uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  withdrawn_at timestamptz,
  check ((kind = 'invitation') = (role is not null)),
  check ((kind = 'invitation') = (tier is not null)),
  check (kind <> 'invitation' or (user_id is null) = (used_at is null)),
  check (kind = 'invitation' or user_id is not null)
);

create index account_links_created on account_links (created_at desc, id desc);
create index account_links_user on account_links (user_id);
create index account_links_creator on account_links (created_by);

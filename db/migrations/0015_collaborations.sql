-- Main terminals that their owners share with whoever brings the code. Of the code only its SHA-256 is kept.
create table collaborations (
  id uuid primary key,
  db_id uuid not null references containers (db_id),
  owner_id uuid not null references users (id),
  mode text not null check (mode in ('view', 'control')),
  code_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- Since when no session of a participant is left in the container; looked at only once it has ended.
  settled_at timestamptz,
  -- The size of the owner's window, which all see; null while the owner is away.
  owner_cols int,
  owner_rows int
);

create index collaborations_live on collaborations (db_id) where ended_at is null;
create index collaborations_unsettled on collaborations (ended_at, expires_at) where settled_at is null;

create table collaboration_participants (
  collaboration_id uuid not null references collaborations (id),
  user_id uuid not null references users (id),
  joined_at timestamptz not null default clock_timestamp(),
  left_at timestamptz,
  primary key (collaboration_id, user_id)
);

create index collaboration_participants_user on collaboration_participants (user_id) where left_at is null;

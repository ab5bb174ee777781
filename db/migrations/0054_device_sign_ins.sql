-- Sign-ins of a program, confirmed in the browser by a code: of one use, and gone after minutes.
create table device_sign_ins (
  device_hash bytea primary key,
  user_code_hash bytea not null unique,
  machine text not null,
  ip_address text not null,
  user_agent text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null,
  polled_at timestamptz,
  -- null while nobody has decided
  decision text check (decision in ('approved', 'denied')),
  user_id uuid references users (id) on delete cascade,
  session_id uuid references sessions (id) on delete cascade,
  check ((decision is not distinct from 'approved') = (session_id is not null)),
  check ((user_id is null) = (session_id is null))
);

create index device_sign_ins_expiry on device_sign_ins (expires_at);
create index device_sign_ins_address on device_sign_ins (ip_address);
create index device_sign_ins_user on device_sign_ins (user_id);
create index device_sign_ins_session on device_sign_ins (session_id);

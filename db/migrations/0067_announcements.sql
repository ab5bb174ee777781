-- Notices of administrators, which everybody who is signed in sees.
create table announcements (
  id uuid primary key default gen_random_uuid(),
  text text not null,
  severity text not null check (severity in ('info', 'warning')),
  starts_at timestamptz not null,
  ends_at timestamptz,
  created_at timestamptz not null default now(),
  -- shown again to those who dismissed an earlier text
  updated_at timestamptz not null default now(),
  check (ends_at > starts_at)
);

create index announcements_end on announcements (ends_at);

-- Events of the service itself belong to nobody: all users see them, or all administrators.
alter table events
  alter column owner_id drop not null,
  add column audience text check (audience in ('everybody', 'administrators')),
  add check ((owner_id is null) = (audience is not null));

create index events_service on events (xid, position) where audience is not null;

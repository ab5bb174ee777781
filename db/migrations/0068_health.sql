-- What each process last found of the parts of the service. `seen_at` is its heartbeat.
create table replica_reports (
  replica uuid primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  -- null while it runs, and after a kill
  stopped_at timestamptz,
  parts jsonb not null
);

-- The times in which a part was not ready. `created_at`: when it began.
create table health_outages (
  id uuid primary key default gen_random_uuid(),
  component text not null,
  state text not null check (state in ('degraded', 'down')),
  reason text not null,
  detail text,
  created_at timestamptz not null,
  ended_at timestamptz,
  check (ended_at >= created_at)
);

-- At most one of a component lasts.
create unique index health_outages_open on health_outages (component) where ended_at is null;
create index health_outages_begun on health_outages (created_at desc, id desc);
create index health_outages_component on health_outages (component, created_at desc, id desc);
create index health_outages_ended on health_outages (ended_at);

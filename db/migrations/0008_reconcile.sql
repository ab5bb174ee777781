-- Engine containers with our label that no row accounts for: stopped when first seen, removed later unless claimed.
create table orphans (
  runtime_id text primary key,
  seen_at timestamptz not null default now()
);

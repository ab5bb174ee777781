-- The longest lifetime and idle time of containers that a tier's users start; 0 for none.
alter table tiers
  add column max_ttl_seconds int not null default 0 check (max_ttl_seconds >= 0),
  add column max_idle_seconds int not null default 0 check (max_idle_seconds >= 0);

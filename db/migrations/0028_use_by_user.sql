-- What one user may do in a minute and at once, by tier. The defaults are those of tier `free`, also for tiers of one's own.
alter table tiers
  add column requests_per_minute int not null default 1200 check (requests_per_minute >= 0),
  add column max_terminals int not null default 64 check (max_terminals >= 0),
  add column max_event_sockets int not null default 64 check (max_event_sockets >= 0),
  add column max_commands int not null default 32 check (max_commands >= 0),
  add column max_uploads int not null default 16 check (max_uploads >= 0),
  add column max_downloads int not null default 32 check (max_downloads >= 0);

update tiers set requests_per_minute = 600, max_terminals = 16, max_event_sockets = 16, max_commands = 8, max_uploads = 4,
  max_downloads = 8 where name = 'guest';
update tiers set requests_per_minute = 2400, max_terminals = 128, max_event_sockets = 128, max_commands = 64, max_uploads = 32,
  max_downloads = 64 where name = 'pro';
update tiers set requests_per_minute = 6000, max_terminals = 256, max_event_sockets = 256, max_commands = 128, max_uploads = 64,
  max_downloads = 128 where name = 'enterprise';

-- What has ended is found by when it ended, a few rows at a time.
create index operations_finished on operations (finished_at) where finished_at is not null;
create index operations_container on operations (db_id);
create index sessions_ended on sessions ((coalesce(revoked_at, expires_at)));
create index containers_volume_removed on containers (volume_removed_at) where volume_removed_at is not null;
create index collaborations_over on collaborations ((least(ended_at, expires_at)));

-- A user with very many sessions: those that are open, and whether an address is a known one.
create index sessions_open on sessions (user_id, id) where revoked_at is null;
create index sessions_address on sessions (user_id, ip_address);

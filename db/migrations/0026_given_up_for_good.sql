-- A deleted container that its owner gave up for good: no restore brings it back, and its volume goes with the next pass.
alter table containers add column volume_purged_at timestamptz;

-- Kept volumes count for their owner until they are removed.
create index containers_kept_by_owner on containers (owner_id)
  where state = 'deleted' and volume_removed_at is null;

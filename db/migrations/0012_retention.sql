-- Phases of removing the volume of a deleted container: condemned when its retention is over, claimed by the process
-- that removes it a day later, removed. A restore before the claim undoes the condemnation.
alter table containers
  add column volume_condemned_at timestamptz,
  add column volume_claimed_at timestamptz,
  add column volume_removed_at timestamptz;

create index containers_volumes_kept on containers (deleted_at)
  where state = 'deleted' and volume_removed_at is null;

-- How a volume keeps its size, and what it held when it was last looked at.
alter table containers
  add column disk_quota text not null default 'soft' check (disk_quota in ('hard', 'soft')),
  add column disk_used_mb int,
  add column disk_measured_at timestamptz;

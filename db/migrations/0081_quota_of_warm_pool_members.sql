-- How the size of a member's volume is enforced; null for members of an earlier version.
alter table warm_pool add column disk_quota text check (disk_quota in ('hard', 'soft'));

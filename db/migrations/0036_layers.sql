-- What a container may write outside its volume, and what it had written when that was last looked at.
alter table tiers add column layer_mb int not null default 2048 check (layer_mb > 0);
update tiers set layer_mb = 8192 where name = 'pro';
update tiers set layer_mb = 16384 where name = 'enterprise';

alter table containers add column layer_used_mb int;

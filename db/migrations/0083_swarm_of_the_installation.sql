-- The Swarm that has the containers: every process of this database refuses another one. Null before the first use.
alter table installation add column swarm_id text;

-- The Swarm that has the containers: every process of this database refuses another one. Null before the first use, and
-- after an administrator has left the last Swarm: then `left_swarms` keeps any Swarm from being recorded by a start.
alter table installation
  add column swarm_id text,
  add column left_swarms boolean not null default false;

-- Sealing takes the head of what waits, in order of time, by an index: a backlog is never sorted as a whole. A row whose
-- record is gone stays, for the check to find.
alter table audit_unsealed add column created_at timestamptz not null default '-infinity';
update audit_unsealed u set created_at = r.created_at from audit_records r where r.id = u.record_id;
-- A record that an older process is writing meanwhile comes by the function as it was, which names no time.
alter table audit_unsealed alter column created_at set default now();
create index audit_unsealed_order on audit_unsealed (created_at, record_id);

create or replace function audit_to_be_sealed() returns trigger language plpgsql as $$
begin
  insert into audit_unsealed (record_id, created_at) values (new.id, new.created_at);
  return null;
end $$;

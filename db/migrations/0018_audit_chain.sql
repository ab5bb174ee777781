-- Each sealed record's hash covers its content and the hash before it. `audit_unsealed` names what is not sealed yet: an
-- order of arrival would need writers to wait for each other, so one process at a time seals shortly after the commit.
create table audit_chain (
  seq bigint primary key,
  record_id uuid not null unique,
  hash bytea not null check (octet_length(hash) = 32)
);

create trigger audit_chain_append_only before update or delete or truncate on audit_chain
  for each statement execute function refuse_change();

create table audit_unsealed (record_id uuid primary key);

create function audit_to_be_sealed() returns trigger language plpgsql as $$
begin
  insert into audit_unsealed (record_id) values (new.id);
  return null;
end $$;

create trigger audit_records_to_be_sealed after insert on audit_records
  for each row execute function audit_to_be_sealed();

-- Records from before this table are sealed like new ones.
insert into audit_unsealed (record_id) select id from audit_records;

create index audit_records_action on audit_records (action, created_at desc, id desc);

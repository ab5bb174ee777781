-- A role for the service that can only add to the audit. Run as the owner of the database, after each `berth migrate`.
do $$
begin
  if not exists (select from pg_roles where rolname = 'berth_service') then
    create role berth_service login;
  end if;
end $$;

grant usage on schema public to berth_service;
grant select, insert, update, delete on all tables in schema public to berth_service;
grant usage, select on all sequences in schema public to berth_service;

-- The audit only grows, whatever the triggers are.
revoke update, delete, truncate on audit_records, audit_chain from berth_service;

-- The schema is the owner's.
revoke insert, update, delete on kysely_migration, kysely_migration_lock from berth_service;
revoke create on schema public from berth_service;

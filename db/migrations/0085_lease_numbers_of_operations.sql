-- Counts the leases of an operation, one for each takeover: a late release ends no later lease.
alter table operations add column lease_number integer not null default 1;

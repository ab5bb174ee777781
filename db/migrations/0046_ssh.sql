-- A key signs in to one account: the oldest one that has it. Until now no key opened anything.
delete from ssh_keys k using ssh_keys o
  where o.fingerprint = k.fingerprint and (o.created_at, o.id) < (k.created_at, k.id);
drop index ssh_keys_fingerprint;
create unique index ssh_keys_fingerprint on ssh_keys (fingerprint);
drop index ssh_keys_user;
create index ssh_keys_user on ssh_keys (user_id);
alter table ssh_keys add column last_used_at timestamptz;

-- The installation's own keys, by which clients recognize it. The private half is encrypted.
create table ssh_host_keys (
  type text primary key,
  public_key text not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null default now()
);

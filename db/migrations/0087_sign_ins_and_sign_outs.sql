-- The IPv4 address, or the /64 of an IPv6 address: what waiting sign-ins are counted by. Those of older processes have
-- none, and end within minutes.
alter table device_sign_ins add column address_group text not null default '';

-- Whom a provider has signed out lately: a sign-in that began before is not completed.
create table provider_sign_outs (
  issuer text not null,
  subject text,
  provider_sid text,
  at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);

create index provider_sign_outs_issuer on provider_sign_outs (issuer);
create index provider_sign_outs_expiry on provider_sign_outs (expires_at);

-- The IPv4 address, or the /64 of an IPv6 address: what waiting sign-ins are counted by. Those of older processes have
-- none, and end within minutes.
alter table device_sign_ins add column address_group text not null default '';

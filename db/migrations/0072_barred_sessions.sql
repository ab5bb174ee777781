-- Until when the session may not change how its user signs in: a passkey opened it soon after a reset.
alter table sessions add column barred_until timestamptz;

-- When the session's user last confirmed at the provider who it is, which counts as a recent sign-in.
alter table sessions add column confirmed_at timestamptz;

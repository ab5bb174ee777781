-- When the session's user proved who it is, to open the session: a provider may have asked nothing for days. null when it
-- did not say.
alter table sessions add column signed_in_at timestamptz;

update sessions set signed_in_at = created_at
where id not in (select session_id from provider_sessions);

-- Also for a process that does not know the column yet.
alter table sessions alter column signed_in_at set default now();

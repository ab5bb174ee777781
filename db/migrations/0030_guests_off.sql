-- Guests are off unless an administrator turns them on. An installation in use keeps what it had: until now no stored value
-- meant on.
insert into settings (key, value)
select 'guestsEnabled', 'true'::jsonb
where exists (select from users)
on conflict (key) do nothing;

-- When an account is disabled by itself. An administrator's never is: nobody might be left to administer.
alter table users
  add column ends_at timestamptz,
  add constraint users_ends_check check (ends_at is null or (role = 'user' and guest_until is null));

create index users_ended on users (ends_at) where ends_at is not null and disabled_at is null;

alter table account_links
  add column account_ends_at timestamptz,
  add constraint account_links_ends_check check (account_ends_at is null or role = 'user');

-- An older process accepts an invitation without the end that it sets for its account.
create function end_invited_account() returns trigger language plpgsql as $$
begin
  update users set ends_at = new.account_ends_at where id = new.user_id and ends_at is null and role = 'user';
  return null;
end $$;

create trigger account_links_end_of_account after update of user_id on account_links
  for each row when (old.user_id is null and new.user_id is not null and new.account_ends_at is not null)
  execute function end_invited_account();

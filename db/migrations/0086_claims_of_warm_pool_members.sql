-- A process claims the member for a create: it marks that in the engine before the create's transaction.
alter table warm_pool
  drop constraint warm_pool_state_check,
  add constraint warm_pool_state_check check (state in ('making', 'ready', 'claiming', 'removing'));

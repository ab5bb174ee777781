-- A child token does at most what its parent does, and ends with it. A deleted parent leaves its children, revoked.
alter table api_tokens
  add column parent_id uuid references api_tokens (id) on delete set null,
  add column depth smallint not null default 0 check (depth >= 0),
  -- null: all containers of the user
  add column containers uuid[] check (cardinality(containers) > 0),
  add column max_uses int check (max_uses > 0),
  add column uses_left int check (uses_left between 0 and max_uses),
  -- null: not revoked, or revoked by itself
  add column revoked_reason text check (revoked_reason in ('parent_revoked', 'parent_deleted')),
  add constraint api_tokens_counted check ((max_uses is null) = (uses_left is null));

create index api_tokens_parent on api_tokens (parent_id) where parent_id is not null;

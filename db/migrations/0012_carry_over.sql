-- What the old container had outside the volume was looked at; `left_behind` is what was seen.
alter table operations add column measured boolean not null default false;

-- The private image that a container is made of since what was installed in it was carried over, and what that image
-- has beyond the catalogue's; null when that could not be measured.
create table carried_images (
  db_id uuid primary key references containers (db_id),
  image text not null,
  changes jsonb,
  captured_at timestamptz not null default now()
);

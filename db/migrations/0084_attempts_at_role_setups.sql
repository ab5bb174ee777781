-- When a process last began to install the tools: owners take turns. Null before the first attempt.
alter table containers add column role_setup_begun_at timestamptz;

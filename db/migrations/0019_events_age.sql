-- Old events are removed by age.
create index events_age on events (created_at);

-- Who takes part in a share hears of its container from then on: of events with greater numbers. Whoever joins holds the
-- container's row, as whoever announces does, so the numbers tell before from after. Those who take part already hear
-- from now on.
alter table collaboration_participants
  add column joined_after bigint not null default nextval('events_position_seq');

-- Also by those that have ended: a delete ends the shares, and is told to those who took part.
drop index collaborations_live;
create index collaborations_container on collaborations (db_id);

-- Written before a terminal is ended and kept until it has gone: two processes that end the same session at once each see
-- that the other one does not show it any more.
alter table terminal_holds add column is_ending boolean not null default false;

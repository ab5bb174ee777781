-- Whether an update has seen the container down that ran: its owner then learns why, even when the update was refused.
alter table operations add column was_down boolean not null default false;

-- All tables that this and the next migrations change, before the first change and in the order of the application (a
-- container's row before what belongs to it, the audit last): waiting for one while another is changed already would
-- make processes of an older version, which go on meanwhile, and the migrations wait for each other in a circle.
lock table containers, operations, sessions, collaborations, events in share mode;
lock table terminal_holds, audit_unsealed in access exclusive mode;

-- Written before a terminal is ended and kept until it has gone: two processes that end the same session at once each see
-- that the other one does not show it any more.
alter table terminal_holds add column is_ending boolean not null default false;

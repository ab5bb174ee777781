-- Who comes back reads what its own containers did, and those that are shared with it: never what is others'.
create index events_owner on events (owner_id, xid, position);
create index events_container on events (db_id, xid, position);

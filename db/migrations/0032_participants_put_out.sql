-- Set when the owner puts a participant out: the same code does not bring them back.
alter table collaboration_participants add column removed_at timestamptz;

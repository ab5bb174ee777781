-- Where a terminal was opened from, for administrators; null for one that an earlier version recorded.
alter table terminal_records
  add column client text,
  add column ip_address text;

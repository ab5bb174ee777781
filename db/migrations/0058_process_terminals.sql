-- The size of a process's terminal; null for one without.
alter table processes
  add column terminal_cols int,
  add column terminal_rows int,
  add constraint processes_terminal check ((terminal_cols is null) = (terminal_rows is null));

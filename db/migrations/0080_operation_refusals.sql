-- Why an operation failed, where that has an answer of its own: for requests of other processes that joined it.
alter table operations add column refusal jsonb;

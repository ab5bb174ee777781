-- What an administrator says about a disabled account; its owner reads it when signing in with the right password.
alter table users add column disabled_reason text;

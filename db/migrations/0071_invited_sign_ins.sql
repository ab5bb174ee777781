-- A person at the provider may accept an invitation, which the row names by the digest of its code.
alter table provider_sign_ins
  add column invitation_hash bytea,
  drop constraint provider_sign_ins_purpose_check,
  drop constraint provider_sign_ins_check,
  add constraint provider_sign_ins_purpose_check
    check (purpose in ('sign_in', 'invitation', 'link', 'confirm')),
  add constraint provider_sign_ins_session_check
    check ((purpose in ('link', 'confirm')) = (session_id is not null)),
  add constraint provider_sign_ins_invitation_check
    check ((purpose = 'invitation') = (invitation_hash is not null));

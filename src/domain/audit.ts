import type { CatalogueKind } from './containers/catalogue.ts';

/** What happened, in the past tense. The interface's two come first. */
export type AuditAction =
  | 'session_revoked'
  | 'sessions_revoked_others'
  | 'login'
  | 'login_failed'
  | 'logged_out'
  | 'container_created'
  | 'container_started'
  | 'container_stopped'
  | 'container_updated'
  | 'container_deleted'
  | 'container_restored'
  | 'container_over_share'
  | 'container_purged'
  | 'volume_removed'
  | 'role_setup_retried'
  | 'role_setup_cancelled'
  | 'terminal_opened'
  | 'terminal_closed'
  | 'recording_started'
  | 'recording_deleted'
  | 'recording_downloaded'
  | 'command_run'
  | 'file_uploaded'
  | 'file_deleted'
  | 'file_downloaded'
  | 'collaboration_started'
  | 'collaboration_joined'
  | 'collaboration_left'
  | 'collaboration_participant_removed'
  | 'collaboration_ended'
  | 'token_created'
  | 'token_revoked'
  | 'token_deleted'
  | 'user_updated'
  | 'users_listed'
  | 'terminals_listed'
  | 'audit_listed'
  | 'audit_exported'
  | 'ssh_key_added'
  | 'ssh_key_removed'
  | 'settings_updated'
  | `${CatalogueKind}_${'created' | 'updated' | 'deleted'}`
  | 'password_changed'
  | 'confirmation_failed'
  | 'mfa_enabled'
  | 'mfa_disabled'
  | 'recovery_code_used'
  | 'recovery_codes_replaced'
  | 'passkey_added'
  | 'passkey_renamed'
  | 'passkey_removed'
  | 'passcode_changed'
  | 'passcode_removed'
  | 'screen_locked'
  | 'screen_unlocked'
  | 'screen_unlock_failed';

export type AuditEntry = {
  /** Of an entry that may be written again, which then is one; else it gets an id of its own. */
  readonly id?: string;
  /** null when nobody is signed in, as for a failed sign-in. */
  readonly userId: string | null;
  readonly action: AuditAction;
  readonly ipAddress: string;
  readonly userAgent: string;
  /** The session id for session actions; otherwise what the action was about. Never a secret. */
  readonly details: string;
};

export type AuditRecord = Omit<AuditEntry, 'action' | 'id'> & {
  readonly id: string;
  /** Text, as a newer version may have written ones that this one does not know. */
  readonly action: string;
  readonly createdAt: Date;
  /** As the user is called now; null for nobody, and for somebody who is not there any more. */
  readonly username: string | null;
};

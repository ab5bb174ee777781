import type { CatalogueKind } from './containers/catalogue.ts';

/** What happened, in the past tense. */
export type AuditAction =
  | 'session_revoked'
  | 'sessions_revoked_others'
  | 'login'
  | 'login_failed'
  | 'logged_out'
  | 'device_sign_in_approved'
  | 'device_sign_in_denied'
  | 'container_created'
  | 'container_started'
  | 'container_stopped'
  | 'container_updated'
  | 'container_deleted'
  | 'container_restored'
  | 'container_over_share'
  | 'container_purged'
  | 'lifetime_changed'
  | 'volume_removed'
  | 'snapshot_created'
  | 'snapshot_deleted'
  | 'snapshot_restored'
  | 'snapshot_given_up'
  | 'snapshot_removed'
  | 'agent_enrolment_created'
  | 'agent_enrolled'
  | 'agent_added'
  | 'agent_connected'
  | 'agent_disconnected'
  | 'agent_stopped'
  | 'agent_deleted'
  | 'role_setup_retried'
  | 'role_setup_cancelled'
  | 'terminal_opened'
  | 'terminal_closed'
  | 'recording_started'
  | 'recording_deleted'
  | 'recording_downloaded'
  | 'command_run'
  | 'ssh_connected'
  | 'ssh_disconnected'
  | 'ssh_refused'
  | 'port_forwarded'
  | 'ssh_agent_forwarded'
  | 'process_started'
  | 'process_signalled'
  | 'file_uploaded'
  | 'file_deleted'
  | 'file_downloaded'
  | 'files_searched'
  | 'ports_listed'
  | 'collaboration_started'
  | 'collaboration_joined'
  | 'collaboration_left'
  | 'collaboration_participant_removed'
  | 'collaboration_ended'
  | 'token_created'
  | 'token_revoked'
  | 'token_deleted'
  | 'user_created'
  | 'user_updated'
  | 'account_ended'
  | 'user_deletion_started'
  | 'user_deleted'
  | 'container_transferred'
  | 'invitation_created'
  | 'invitation_withdrawn'
  | 'invitation_accepted'
  | 'reset_link_created'
  | 'reset_link_withdrawn'
  | 'password_reset'
  | 'second_factor_reset'
  | 'users_listed'
  | 'containers_listed'
  | 'terminals_listed'
  | 'usage_listed'
  | 'audit_listed'
  | 'audit_exported'
  | 'ssh_key_added'
  | 'ssh_key_removed'
  | 'settings_updated'
  | 'announcement_created'
  | 'announcement_updated'
  | 'announcement_deleted'
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
  | 'identity_linked'
  | 'identity_unlinked'
  | 'passcode_changed'
  | 'passcode_removed'
  | 'screen_locked'
  | 'screen_unlocked'
  | 'screen_unlock_failed';

export type AuditEntry = {
  /** Makes a repeated append of this entry write one row; without it each gets its own id. */
  readonly id?: string;
  /** null when nobody is signed in, for example after a failed sign-in. */
  readonly userId: string | null;
  readonly action: AuditAction;
  readonly ipAddress: string;
  readonly userAgent: string;
  /** The session id for session actions, else the subject's. Never a secret. */
  readonly details: string;
};

export type AuditRecord = Omit<AuditEntry, 'action' | 'id'> & {
  readonly id: string;
  /** Text, because a newer version may have written actions unknown here. */
  readonly action: string;
  readonly createdAt: Date;
  /** The user's present name; null without a user, or when the user is gone. */
  readonly username: string | null;
};

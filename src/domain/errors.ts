import type { CatalogueKind } from './containers/catalogue.ts';
import type { FileError } from './containers/files.ts';
import type { FieldFaults } from './field-faults.ts';
import type { ProviderRefusal } from './identity/openid/provider-refusal.ts';
import type { SessionEnd } from './identity/session.ts';

/** `provider`: no field, but a new sign-in at the provider. */
export type ConfirmationField = 'password' | 'code' | 'current_passcode' | 'provider';

/** Every refusal that the interface names, by code. The HTTP adapter has one table of their statuses and words. */
export type DomainError =
  | FileError
  | { readonly code: 'service_restarting' }
  | { readonly code: 'service_overloaded' }
  /** `ended`: why the client's session ended. */
  | { readonly code: 'unauthorized'; readonly ended?: SessionEnd }
  | { readonly code: 'api_token_rejected' }
  | { readonly code: 'login_failed' }
  | { readonly code: 'login_token_required' }
  | { readonly code: 'insufficient_scope' }
  /** The route is not about containers, and the token is only for some of them. */
  | { readonly code: 'token_restricted' }
  /** The credential that it would make would outlast the token. */
  | { readonly code: 'token_dependent' }
  /** A passkey opened the session soon after a reset. */
  | { readonly code: 'new_password_required' }
  | { readonly code: 'not_authorized' }
  | { readonly code: 'origin_not_allowed' }
  | { readonly code: 'method_not_allowed' }
  | { readonly code: 'registration_closed' }
  | { readonly code: 'setup_done' }
  | { readonly code: 'setup_code_rejected' }
  | { readonly code: 'guest_session_expired' }
  | { readonly code: 'validation_failed'; readonly fields: FieldFaults }
  | { readonly code: 'container_not_found' }
  | { readonly code: 'container_not_running' }
  /** It is paused, as while a snapshot of it is taken. */
  | { readonly code: 'container_paused' }
  | { readonly code: 'container_busy' }
  | { readonly code: 'too_many_processes' }
  /** No turn at the engine in time. */
  | { readonly code: 'engine_busy' | 'container_unresponsive'; readonly retryAfterSeconds: number }
  /** `right`: what the engine does not let the service do, in the engine's words. */
  | { readonly code: 'engine_right_missing'; readonly right: string }
  /** The connection to the engine broke before it reported the outcome. */
  | { readonly code: 'command_outcome_unknown' | 'file_outcome_unknown' }
  /** For a client that resumes a command. */
  | { readonly code: 'command_elsewhere' | 'command_lost' | 'command_abandoned' }
  | { readonly code: 'command_output_lost'; readonly exitCode: number | null }
  | { readonly code: 'process_not_found' | 'process_ended' | 'process_tools_missing' }
  | { readonly code: 'process_limit_reached'; readonly max: number }
  | { readonly code: 'process_without_input' | 'process_without_terminal' | 'process_outcome_unknown' }
  /** `inputOffset`: the bytes of input that the process has. */
  | {
      readonly code: 'process_input_gap' | 'process_input_closed' | 'process_input_full';
      readonly inputOffset: number;
    }
  | { readonly code: 'container_limit_reached'; readonly max: number }
  /** `names`: containers that could be purged; empty when all are being erased. */
  | { readonly code: 'kept_limit_reached'; readonly max: number; readonly names: readonly string[] }
  | {
      readonly code:
        | 'snapshot_not_found'
        | 'snapshot_not_ready'
        | 'snapshot_needs_start'
        | 'snapshot_name_taken';
    }
  | { readonly code: 'snapshot_limit_reached'; readonly max: number }
  | { readonly code: 'snapshot_space_reached'; readonly maxMb: number; readonly neededMb: number }
  | { readonly code: 'disk_quota_exceeded' }
  | { readonly code: 'host_disk_short' }
  | { readonly code: 'image_unavailable' | 'engine_full' | 'node_in_maintenance' }
  | { readonly code: 'name_taken' }
  | { readonly code: 'agent_limit_reached'; readonly max: number }
  | { readonly code: 'agent_not_connected' }
  /** The operation is for containers. */
  | { readonly code: 'not_for_agents' }
  /** The engine does not have the operation. */
  | { readonly code: 'not_offered_by_engine' }
  /** Nothing was done: the agent is connected to another process, or its connection was lost. */
  | { readonly code: 'agent_elsewhere' | 'agent_unresponsive'; readonly retryAfterSeconds: number }
  | { readonly code: 'enrolment_not_found' }
  | { readonly code: 'enrolment_limit_reached'; readonly max: number }
  | { readonly code: 'guests_disabled' }
  /** A missing field of the request. */
  | { readonly code: 'confirmation_required'; readonly by: ConfirmationField }
  | { readonly code: 'account_required' }
  | { readonly code: 'wrong_password' }
  | { readonly code: 'wrong_code' }
  | { readonly code: 'mfa_already_enabled' }
  | { readonly code: 'mfa_not_enabled' }
  | { readonly code: 'mfa_not_started' }
  /** Of a sign-in by a code, in the words of RFC 8628. */
  | { readonly code: 'authorization_pending' | 'access_denied' | 'expired_token' }
  | { readonly code: 'slow_down'; readonly retryAfterSeconds: number }
  | { readonly code: 'device_code_not_found' }
  /** Of a sign-in at an OpenID provider. */
  | { readonly code: ProviderRefusal | 'provider_not_set_up' }
  | { readonly code: 'provider_other_person' | 'provider_time_missing' }
  /** `suggestion`: a free one; null when nothing that the provider says fits, or all names close to it are taken. */
  | { readonly code: 'provider_username_needed'; readonly suggestion: string | null }
  | { readonly code: 'identity_taken' | 'identity_not_found' | 'identity_needed' }
  | { readonly code: 'identity_limit_reached'; readonly max: number }
  | { readonly code: 'logout_token_rejected' }
  | { readonly code: 'session_locked' }
  | { readonly code: 'wrong_passcode' }
  | { readonly code: 'passcode_not_set' }
  | { readonly code: 'passkey_not_found' }
  | { readonly code: 'passkey_rejected' }
  | { readonly code: 'passkey_registered' }
  | { readonly code: 'passkey_limit_reached'; readonly max: number }
  | { readonly code: 'passkeys_unavailable' }
  | { readonly code: 'token_not_found' }
  | { readonly code: 'token_already_created'; readonly id: string; readonly prefix: string }
  | { readonly code: 'idempotency_key_busy' }
  | { readonly code: 'idempotency_key_reused' }
  | { readonly code: 'token_limit_reached'; readonly max: number }
  | { readonly code: 'token_cannot_derive' }
  | { readonly code: 'session_not_found' }
  | { readonly code: 'user_not_found' }
  | { readonly code: 'last_administrator' }
  /** The caller's own account: another administrator must do it. */
  | { readonly code: 'own_account' }
  /** The password was right. `reason`: the administrator's words; null without any. */
  | { readonly code: 'account_disabled'; readonly reason: string | null }
  | { readonly code: 'user_disabled' }
  | { readonly code: 'user_being_deleted' }
  /** The request does not say what happens to them. */
  | { readonly code: 'user_has_containers' }
  /** A user whose deletion is not complete transfers them. */
  | { readonly code: 'user_receives_containers' }
  /** The link is used, withdrawn or expired, or never existed here. */
  | { readonly code: 'link_not_valid' }
  | { readonly code: 'invitation_not_found' | 'reset_link_not_found' }
  | { readonly code: 'link_limit_reached'; readonly max: number }
  | { readonly code: 'announcement_not_found' }
  | { readonly code: 'announcement_limit_reached'; readonly max: number }
  | { readonly code: 'terminal_not_found' }
  | { readonly code: 'busy_opening_terminals'; readonly retryAfterSeconds: number }
  | { readonly code: 'terminal_not_open' }
  | { readonly code: 'recording_not_found' }
  | { readonly code: 'recording_quota_reached' }
  | { readonly code: 'recording_elsewhere' }
  | { readonly code: 'collaboration_not_found' }
  | { readonly code: 'collaboration_limit_reached'; readonly max: number }
  | { readonly code: 'sharing_needs_tmux' }
  | { readonly code: 'ssh_key_not_found' }
  | { readonly code: 'ssh_key_exists' }
  | { readonly code: 'ssh_key_limit_reached'; readonly max: number }
  | { readonly code: `${CatalogueKind}_not_found` }
  | { readonly code: 'catalogue_key_taken' }
  | { readonly code: 'catalogue_entry_in_use' }
  | { readonly code: 'catalogue_entry_needed' }
  | { readonly code: 'role_setup_not_needed' }
  | { readonly code: 'role_setup_not_active' }
  | { readonly code: 'too_many_at_once'; readonly retryAfterSeconds: number }
  /** For all users of one address. */
  | { readonly code: 'address_full'; readonly retryAfterSeconds: number }
  | { readonly code: 'rate_limited'; readonly retryAfterSeconds: number };

export type DomainErrorCode = DomainError['code'];

/** A refusal thrown through nested calls; the HTTP adapter answers it from its table. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly error: DomainError;
  constructor(error: DomainError) {
    super(error.code);
    this.error = error;
  }
}

/** What an engine lacks for a container, or cannot do now. */
export type EngineRefusal =
  | {
      readonly code: 'engine_busy' | 'container_unresponsive' | 'agent_elsewhere' | 'agent_unresponsive';
      readonly retryAfterSeconds: number;
    }
  | { readonly code: 'engine_right_missing'; readonly right: string }
  | { readonly code: 'image_unavailable' | 'engine_full' | 'node_in_maintenance' };

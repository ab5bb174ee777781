import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type DomainError, type DomainErrorCode, Refusal } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Result } from '../../domain/result.ts';
import { StorageBusy, StorageUnavailable } from '../../ports/storage.ts';
import { onTheWire } from './field-names.ts';
import { headersOfData } from './security-headers.ts';
import { validationFields } from './validation-errors.ts';

type Answer = readonly [status: number, message: string];

const ANSWERS: { readonly [C in DomainErrorCode]: Answer } = {
  service_restarting: [503, 'the service is restarting, try again'],
  service_overloaded: [503, 'the service has too many connections, try again'],
  unauthorized: [401, 'unauthorized'],
  api_token_rejected: [401, 'Invalid or expired API token'],
  login_failed: [401, 'invalid email or password'],
  login_token_required: [403, 'login token required'],
  insufficient_scope: [403, 'insufficient scope'],
  not_authorized: [403, 'not authorized'],
  origin_not_allowed: [403, 'origin not allowed'],
  registration_closed: [403, 'registration is closed'],
  setup_done: [403, 'set-up is already done: sign in'],
  setup_code_rejected: [403, 'this set-up link is no longer valid: restart the service for a new one'],
  guest_session_expired: [403, 'guest session expired'],
  validation_failed: [400, 'invalid request'],
  container_not_found: [404, 'container not found'],
  container_not_running: [409, 'container is not running'],
  container_busy: [409, 'container is busy'],
  too_many_processes: [
    409,
    'this container has reached its process limit: stop some processes, or restart the container',
  ],
  engine_busy: [
    503,
    'too many of your requests are waiting for the container engine: try again in a few seconds',
  ],
  container_unresponsive: [
    503,
    'this container cannot start new programs: try again in a few seconds, or stop the container and start it again',
  ],
  command_outcome_unknown: [
    503,
    'the command was sent to the container, but the connection to the container engine was lost: it may have finished, or still be running. Check before you repeat it',
  ],
  file_outcome_unknown: [
    503,
    'the connection to the container engine was lost: the change may or may not have been made. Check before you repeat it',
  ],
  container_limit_reached: [409, 'container limit reached'],
  kept_limit_reached: [409, 'deleted containers still count against your tier: purge one of them'],
  disk_quota_exceeded: [
    409,
    'the workspace is larger than its disk size: increase the disk size, then start the container',
  ],
  host_disk_short: [503, 'the host is low on disk space: nothing new can be created'],
  image_unavailable: [
    503,
    'the image is not available from its registry: choose another one, or ask an administrator',
  ],
  name_taken: [409, 'name already in use'],
  file_not_found: [404, 'file not found'],
  file_outside: [409, 'the path leads outside the workspace'],
  file_special: [409, 'not a regular file or folder'],
  file_in_the_way: [409, 'a file or folder with that name is in the way'],
  file_not_permitted: [409, 'not permitted in the container'],
  file_tools_missing: [409, 'the image lacks a program needed to access files'],
  file_too_large: [413, 'the file is too large'],
  disk_full: [507, 'no space left in the workspace'],
  guests_disabled: [403, 'guests are not allowed here'],
  confirmation_required: [403, 'confirm that it is you'],
  account_required: [403, 'this needs an account, which guests do not have'],
  wrong_password: [403, 'wrong password'],
  wrong_code: [403, 'wrong code'],
  mfa_already_enabled: [409, 'a second factor is already on'],
  mfa_not_enabled: [409, 'no second factor is on'],
  mfa_not_started: [409, 'request a new secret first'],
  session_locked: [423, 'session locked'],
  wrong_passcode: [403, 'wrong passcode'],
  passcode_not_set: [409, 'set a passcode first'],
  passkey_not_found: [404, 'passkey not found'],
  passkey_rejected: [400, 'the passkey was not accepted'],
  passkey_registered: [409, 'the passkey is already registered'],
  passkey_limit_reached: [409, 'passkey limit reached'],
  passkeys_unavailable: [409, 'passkeys need HTTPS and a domain name: set BERTH_PUBLIC_URL'],
  token_not_found: [404, 'token not found'],
  token_already_created: [409, 'already created'],
  idempotency_key_busy: [409, 'a request with this idempotency key is in progress'],
  idempotency_key_reused: [409, 'this idempotency key was used for another request'],
  token_limit_reached: [409, 'token limit reached'],
  session_not_found: [404, 'session not found'],
  user_not_found: [404, 'user not found'],
  last_administrator: [409, 'the last administrator must remain one'],
  terminal_not_found: [404, 'terminal not found'],
  busy_opening_terminals: [503, 'too many terminals are opening at once: try again in a few seconds'],
  terminal_not_open: [409, 'this terminal is not open: only an open one can be recorded'],
  recording_not_found: [404, 'recording not found'],
  recording_quota_reached: [409, 'your recordings use all the space they are allowed: delete some first'],
  recording_elsewhere: [503, 'the file of this recording is on another replica'],
  collaboration_not_found: [404, 'collaboration not found'],
  collaboration_limit_reached: [409, 'collaboration limit reached'],
  sharing_needs_tmux: [409, 'sharing needs tmux, which this image does not have'],
  ssh_key_not_found: [404, 'ssh key not found'],
  ssh_key_exists: [409, 'ssh key already added'],
  ssh_key_limit_reached: [409, 'ssh key limit reached'],
  tier_not_found: [404, 'tier not found'],
  image_not_found: [404, 'image not found'],
  role_not_found: [404, 'role not found'],
  catalogue_key_taken: [409, 'key already in use'],
  catalogue_entry_in_use: [409, 'still in use'],
  catalogue_entry_needed: [409, 'the service needs this entry: change it instead'],
  role_setup_not_needed: [409, 'the role installs nothing'],
  role_setup_not_active: [409, 'no tools are being installed'],
  too_many_at_once: [429, 'you have too many of these at once: end one, or wait for one to end'],
  address_full: [
    429,
    'too many terminals and pages are open from your address: close one, or try again later',
  ],
  rate_limited: [429, 'too many requests'],
};

/** Faults that Fastify finds before the handler. */
const FRAMEWORK: Readonly<Record<string, readonly [number, string, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'bad_json', 'the body is not valid JSON'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'bad_json', 'the body is empty'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [400, 'bad_content_type', 'the body must be application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    400,
    'bad_content_length',
    'the body does not match its Content-Length',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'body_too_large', 'the body is too large'],
  FST_ERR_BAD_URL: [400, 'bad_url', 'the address is not valid'],
  FST_ERR_MAX_PARAM_LENGTH: [404, 'not_found', 'not found'],
};

const RETRY_AFTER_SECONDS = 2;

/** The value, or the refusal as an exception for `onError`. */
export function orThrow<T>(result: Result<T, DomainError>): T {
  if (!result.ok) throw new Refusal(result.error);
  return result.value;
}

/** RFC 6750: every 401 names the scheme; `invalid_token` only when a credential was sent. */
export function challenge(request: FastifyRequest, reply: FastifyReply, status: number, code: string): void {
  if (status === 401) {
    const sent = request.headers.authorization ?? request.headers['sec-websocket-protocol'];
    reply.header('www-authenticate', sent === undefined ? 'Bearer' : 'Bearer error="invalid_token"');
  }
  if (code === 'insufficient_scope') reply.header('www-authenticate', 'Bearer error="insufficient_scope"');
}

function answerRefusal(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [status, message] = ANSWERS[error.code];
  challenge(request, reply, status, error.code);
  if ('retryAfterSeconds' in error) reply.header('retry-after', error.retryAfterSeconds);
  if (status === 503 && error.code.startsWith('service_')) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (error.code === 'token_already_created') {
    const { code, id, prefix } = error;
    return reply.code(status).send({ error: message, code, id, token_prefix: prefix });
  }
  if (error.code === 'kept_limit_reached') {
    return reply.code(status).send({ error: keptWords(message, error.names), code: error.code });
  }
  if (error.code === 'unauthorized' && error.ended !== undefined) {
    return reply.code(status).send({ error: message, code: error.code, reason: error.ended });
  }
  const fields = fieldsOf(error);
  if (fields === null) return reply.code(status).send({ error: message, code: error.code });
  const first = Object.entries(fields)[0];
  const words = first === undefined ? message : `${first[0]} ${first[1]}`;
  return reply.code(status).send({ error: words, code: error.code, fields });
}

const inWireNames = (error: DomainError): DomainError =>
  error.code === 'validation_failed' ? { ...error, fields: onTheWire(error.fields) } : error;

const keptWords = (message: string, names: readonly string[]): string =>
  names.length === 0
    ? 'the space of deleted containers is still being freed: try again in a few minutes'
    : `${message}: ${names.join(', ')}`;

function fieldsOf(error: DomainError): FieldFaults | null {
  if (error.code === 'validation_failed') return error.fields;
  return error.code === 'confirmation_required'
    ? { [error.by]: 'is required to confirm that it is you' }
    : null;
}

/** The one place where errors become answers. All but refusals are logged and answered in the route's words. */
export function onError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof Refusal) return answerRefusal(inWireNames(error.error), request, reply);
  // The client's own names.
  if (error.validation) {
    return answerRefusal({ code: 'validation_failed', fields: validationFields(error) }, request, reply);
  }
  const known = FRAMEWORK[error.code];
  if (known !== undefined) return reply.code(known[0]).send({ error: known[2], code: known[1] });
  const log = request.log.child({ reqId: request.id });
  if (isMomentary(error, request)) {
    log.warn({ err: error }, 'the database does not respond');
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return reply.code(503).send({ error: 'service unavailable, try again', code: 'unavailable' });
  }
  // Only the framework's: an engine error has a status too, but is our fault.
  const { statusCode = 500, code = '' } = error;
  if (code.startsWith('FST_') && statusCode >= 400 && statusCode < 500) {
    log.info({ err: error }, 'request refused by the framework');
    return reply.code(statusCode).send({ error: 'bad request', code: 'bad_request' });
  }
  log.error({ err: error }, 'request failed');
  const words = request.routeOptions.config.failure ?? 'internal error';
  return reply.code(500).send({ error: words, code: 'internal_error' });
}

/** For an invalid address, where no hook runs: after an upgrade its socket would stay open. */
export function onBadAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  headersOfData(request, reply);
  const { socket, headers } = request.raw;
  if (headers.upgrade !== undefined) reply.raw.once('finish', () => socket.destroy());
  void onError(error, request, reply);
}

/** Whether the fault is temporary, so that the client is told to retry. */
const isMomentary = (error: Error, request: FastifyRequest): boolean =>
  error instanceof StorageBusy || (error instanceof StorageUnavailable && !hasWords(request));

/** For known callers, two routes have words of their own for a failing database. */
const hasWords = ({ caller, routeOptions }: FastifyRequest): boolean =>
  caller !== null && routeOptions.config.failureOfDatabase === true;

export const onNotFound = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(404).send({ error: 'not found', code: 'not_found' });

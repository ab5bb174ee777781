import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type DomainError, Refusal } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Result } from '../../domain/result.ts';
import { StorageBusy, StorageUnavailable } from '../../ports/storage.ts';
import { ANSWERS } from './error-table.ts';
import { FAULTS, FRAMEWORK } from './fault-table.ts';
import { onTheWire } from './field-names.ts';
import { headersOfData } from './security-headers.ts';
import { validationFields } from './validation-errors.ts';

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
  if ('inputOffset' in error) {
    return reply.code(status).send({ error: message, code: error.code, input_offset: error.inputOffset });
  }
  if (error.code === 'kept_limit_reached') {
    return reply.code(status).send({ error: keptWords(message, error.names), code: error.code });
  }
  if (error.code === 'engine_right_missing') {
    return reply.code(status).send({ error: `${message}: ${error.right}`, code: error.code });
  }
  if (error.code === 'unauthorized' && error.ended !== undefined) {
    return reply.code(status).send({ error: message, code: error.code, reason: error.ended });
  }
  if (error.code === 'account_disabled') {
    return reply.code(status).send({ error: message, code: error.code, reason: error.reason });
  }
  if (error.code === 'provider_username_needed') {
    const { code, suggestion } = error;
    return reply.code(status).send({ error: message, code, suggestion });
  }
  const fields = faultsOf(error);
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

function faultsOf(error: DomainError): FieldFaults | null {
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
  if (hasLeft(error, reply)) return reply.hijack();
  const { log, id: reqId } = request;
  if (isMomentary(error, request)) {
    log.warn({ reqId, err: error }, 'the database does not respond');
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    const [status, words] = FAULTS.unavailable;
    return reply.code(status).send({ error: words, code: 'unavailable' });
  }
  // Only the framework's: an engine error has a status too, but is our fault.
  const { statusCode = 500, code = '' } = error;
  if (code.startsWith('FST_') && statusCode >= 400 && statusCode < 500) {
    log.info({ reqId, err: error }, 'request refused by the framework');
    return reply.code(statusCode).send({ error: 'bad request', code: 'bad_request' });
  }
  log.error({ reqId, err: error }, 'request failed');
  const words = request.routeOptions.config.failure ?? FAULTS.internal_error[1];
  return reply.code(500).send({ error: words, code: 'internal_error' });
}

/** For an invalid address, where no hook runs: after an upgrade its socket would stay open. */
export function onBadAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  headersOfData(request, reply);
  const { socket, headers } = request.raw;
  if (headers.upgrade !== undefined) reply.raw.once('finish', () => socket.destroy());
  void onError(error, request, reply);
}

/** Whether the client left before its answer began. The framework notices that only of requests with a body. */
const hasLeft = ({ code }: FastifyError, { raw }: FastifyReply): boolean =>
  code === 'ERR_STREAM_PREMATURE_CLOSE' && raw.destroyed;

/** Whether the fault is temporary, so that the answer asks the client to retry. */
const isMomentary = (error: Error, request: FastifyRequest): boolean =>
  error instanceof StorageBusy || (error instanceof StorageUnavailable && !hasWords(request));

/** For known callers, two routes have words of their own for a failing database. */
const hasWords = ({ caller, routeOptions }: FastifyRequest): boolean =>
  caller !== null && routeOptions.config.failureOfDatabase === true;

export const onNotFound = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.code(404).send({ error: 'not found', code: 'not_found' });

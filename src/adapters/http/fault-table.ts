import type { Answer } from './error-table.ts';

/** Faults that Fastify finds before the handler. */
export const FRAMEWORK: Readonly<Record<string, readonly [number, string, string]>> = {
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

/** What is no refusal of the domain. */
export const FAULTS = {
  unavailable: [503, 'service unavailable, try again'],
  internal_error: [500, 'internal error'],
  upgrade_required: [426, 'this address is a WebSocket: connect with one'],
} as const satisfies Readonly<Record<string, Answer>>;

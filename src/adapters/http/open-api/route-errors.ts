import type { RouteOptions } from 'fastify';
import type { DomainErrorCode } from '../../../domain/errors.ts';
import type { RouteScope } from '../../../domain/identity/scope.ts';
import { ANSWERS, type Answer } from '../error-table.ts';
import { FAULTS, FRAMEWORK } from '../fault-table.ts';

/** An error code with its status and words. */
export type ErrorAnswer = { readonly code: string; readonly status: number; readonly words: string };

const OF_SCOPE: { readonly [S in RouteScope]: readonly DomainErrorCode[] } = {
  public: [],
  login: ['unauthorized', 'api_token_rejected', 'login_token_required'],
  api_token: ['unauthorized', 'api_token_rejected'],
  read: ['unauthorized', 'api_token_rejected', 'insufficient_scope'],
  write: ['unauthorized', 'api_token_rejected', 'insufficient_scope'],
  admin: ['unauthorized', 'api_token_rejected', 'insufficient_scope', 'not_authorized'],
};

/** All errors that a route can answer: its own refusals, and those that follow from its scope and its request. */
export function errorsOf({ method, url, config, schema }: RouteOptions): readonly ErrorAnswer[] {
  const {
    scope = 'public',
    whileLocked,
    forRestricted,
    shutAfterReset,
    lasting,
    subprotocol,
    slowBody,
    failure,
  } = config ?? {};
  const isRead = method === 'GET';
  const codes: DomainErrorCode[] = [
    ...OF_SCOPE[scope],
    ...(scope === 'public' || scope === 'api_token' || whileLocked ? [] : (['session_locked'] as const)),
    ...(forRestricted || ['public', 'login'].includes(scope) ? [] : (['token_restricted'] as const)),
    ...(shutAfterReset || scope === 'admin' ? (['new_password_required'] as const) : []),
    ...(isRead && subprotocol === undefined ? [] : (['origin_not_allowed'] as const)),
    ...(scope === 'public' && isRead ? [] : (['rate_limited'] as const)),
    ...(lasting === undefined ? [] : (['too_many_at_once'] as const)),
    ...(isChecked(schema) ? (['validation_failed'] as const) : []),
    ...(schema?.headers === undefined ? [] : OF_IDEMPOTENCY),
    ...(schema?.refusals ?? []),
    'service_restarting',
    'service_overloaded',
  ];
  const framework = [
    ...(url.includes(':') ? [FRAMEWORK['FST_ERR_BAD_URL']] : []),
    // a parameter that is too long, or an upgrade to a WebSocket that is none
    FRAMEWORK['FST_ERR_MAX_PARAM_LENGTH'],
    ...(isRead || slowBody ? [] : OF_BODIES.map((name) => FRAMEWORK[name])),
  ].filter((row) => row !== undefined);
  return [
    ...[...new Set(codes)].map((code) => answerOf(code, ANSWERS[code])),
    ...framework.map(([status, code, words]) => ({ code, status, words })),
    ...(subprotocol === undefined ? [] : [answerOf('upgrade_required', FAULTS.upgrade_required)]),
    answerOf('unavailable', FAULTS.unavailable),
    answerOf('internal_error', [500, failure ?? FAULTS.internal_error[1]]),
  ];
}

const OF_IDEMPOTENCY = ['idempotency_key_busy', 'idempotency_key_reused'] as const;

/** Any JSON body is parsed, even one that the route does not use. */
const OF_BODIES = [
  'FST_ERR_CTP_INVALID_JSON_BODY',
  'FST_ERR_CTP_INVALID_MEDIA_TYPE',
  'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
  'FST_ERR_CTP_BODY_TOO_LARGE',
];

const isChecked = (schema: RouteOptions['schema']): boolean =>
  schema?.body !== undefined || schema?.querystring !== undefined || schema?.headers !== undefined;

const answerOf = (code: string, [status, words]: Answer): ErrorAnswer => ({ code, status, words });

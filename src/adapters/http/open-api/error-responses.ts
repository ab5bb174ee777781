import { STATUS_CODES } from 'node:http';
import { RefusalBody } from '../schema/common.ts';
import { type Document, type Operation, operationsIn, type Response, type Schema } from './document.ts';
import type { ErrorAnswer } from './route-errors.ts';

/** Adds an operation's errors, one response per status. The body that a route declares itself stays. */
export function addErrors(operation: Operation, errors: readonly ErrorAnswer[]): void {
  const statuses = [...new Set(errors.map(({ status }) => status))].sort((a, b) => a - b);
  for (const status of statuses) {
    const made = response(
      status,
      errors.filter((one) => one.status === status),
    );
    const { content } = operation.responses[status] ?? made;
    operation.responses[status] = { ...made, ...(content === undefined ? {} : { content }) };
  }
}

const HEADERS: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

function response(status: number, errors: readonly ErrorAnswer[]): Response {
  const codes = errors.map(({ code }) => code);
  const header = HEADERS[status];
  const schema = { allOf: [RefusalBody, { type: 'object', properties: { code: { enum: codes } } }] };
  const examples = Object.fromEntries(errors.map((one) => [one.code, exampleOf(one)]));
  return {
    description: `${phrase(status)}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    ...(header === undefined ? {} : { headers: { [header]: { $ref: `#/components/headers/${header}` } } }),
    content: { 'application/json': { schema, examples } },
  };
}

const phrase = (status: number): string => STATUS_CODES[status] ?? String(status);

/** A fault has the route's words. */
const exampleOf = ({ code, words }: ErrorAnswer): Schema =>
  code === 'internal_error' ? { value: { error: words, code } } : { $ref: `#/components/examples/${code}` };

/** One example for each code that the operations refer to. */
export function errorExamples(errors: readonly ErrorAnswer[]): Schema {
  const others = errors.filter(({ code }) => code !== 'internal_error');
  return Object.fromEntries(others.map(({ code, words }) => [code, { value: bodyOf(code, words) }]));
}

const bodyOf = (code: string, words: string): Schema =>
  code === 'validation_failed'
    ? { error: 'name is required', code, fields: { name: 'is required' } }
    : { error: words, code };

type ErrorResponse = {
  readonly responses: Operation['responses'];
  readonly status: string;
  readonly one: Response;
};

/** Describes each status's most frequent response once. */
export function shareResponses(document: Document): void {
  const shared: { [name: string]: Response } = {};
  const byStatus = grouped(errorsIn(document), ({ status }) => status);
  for (const [status, all] of byStatus) {
    const same = [...grouped(all, ({ one }) => JSON.stringify(one)).values()];
    const [most = []] = same.sort((a, b) => b.length - a.length);
    if (most.length < 2 || most[0] === undefined) continue;
    const name = phrase(Number(status)).replace(/\W/g, '');
    shared[name] = most[0].one;
    for (const { responses } of most) responses[status] = { $ref: `#/components/responses/${name}` } as never;
  }
  document.components['responses'] = shared;
}

const errorsIn = ({ paths }: Document): readonly ErrorResponse[] =>
  operationsIn(paths).flatMap(({ responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, one]) => ({ responses, status, one })),
  );

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

export const errorHeaders = {
  'WWW-Authenticate': {
    description: '`Bearer`; with `error="invalid_token"` or `error="insufficient_scope"` for a credential.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds after which another attempt may succeed.',
    schema: { type: 'integer' },
  },
};

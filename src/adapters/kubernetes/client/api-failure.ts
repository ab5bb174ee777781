import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import {
  EngineFull,
  RightMissing,
  RuntimeBusy,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';

/** The body of a refusal, a `Status` of the API. */
const Refusal = Type.Object({
  kind: Type.Literal('Status'),
  message: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
});
type Refusal = Static<typeof Refusal>;

/** The API server refused a call. */
export class ApiFailure extends RuntimeFailure {
  readonly status: number;
  /** A word of the API, such as `AlreadyExists`; empty without one. */
  readonly reason: string;
  constructor(message: string, status: number, reason: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The API server does not accept who Berth is. */
export class CredentialsRefused extends RuntimeUnavailable {}

const RETRY_SECONDS = 2;

/** Of the API server's authorization, in contrast to quotas and rules. */
const NO_RIGHT = /^\S+(?: "[^"]*")? is forbidden: User "[^"]*" cannot (\w+) resource "([^"]+)"/;
/** Of a node, which does not let the API server act; or of an API server that passes it on. */
const NO_RIGHT_THERE =
  /^(?:unable to upgrade connection: )?Forbidden \(user=.*?, verb=(\w+), resource=(\w+)(?:, subresource=(\w+))?/;
/** The same without the right. */
const REFUSED_THERE = /^unable to upgrade connection: (?:forbidden|unauthorized)\b/i;

/** The right that the API server lacks at a node which answers it with these words; null for other words. */
export function rightAtNode(words: string): string | null {
  const [, verb, kind, part] = NO_RIGHT_THERE.exec(words) ?? [];
  if (verb !== undefined) return `${verb} ${part === undefined ? kind : `${kind}/${part}`}`;
  return REFUSED_THERE.test(words) ? 'start programs on its nodes' : null;
}

/** The right that a refusal is for, without the account that lacks it; null for any other refusal. */
function missingRight(status: number, words: string): string | null {
  const [, verb, resource] = (status === 403 && NO_RIGHT.exec(words)) || [];
  if (verb !== undefined) return `${verb} ${resource}`;
  return status === 403 || status >= 500 ? rightAtNode(words) : null;
}

/** The fault of an answer with this status of 400 or above. `retryAfter`: that header. */
export function failureOf(status: number, body: string, retryAfter: string | undefined): Error {
  const { message = body.slice(0, 500), reason = '' } = refusalIn(body) ?? {};
  const words = `${status} ${reason}: ${message}`;
  if (status === 429) return new RuntimeBusy('engine_busy', Number(retryAfter) || RETRY_SECONDS);
  // A server that has not read its roles yet says this too, so it says nothing about the containers.
  const right = missingRight(status, message);
  if (right !== null) return new RightMissing(right, `the cluster does not let Berth ${right}: ${words}`);
  // Expired credentials neither.
  if (status === 401) return new CredentialsRefused(`the cluster refuses Berth's credentials: ${words}`);
  if (status >= 500) return new RuntimeUnavailable(`the cluster does not serve this now: ${words}`);
  return new ApiFailure(words, status, reason);
}

/** Whether an API server that answers for a Pod has this fault from the Pod's node: lost, or just back. */
export const isOfNode = (error: unknown): boolean =>
  error instanceof RuntimeUnavailable &&
  !(error instanceof RuntimeBusy) &&
  !(error instanceof RightMissing) &&
  !(error instanceof CredentialsRefused);

function refusalIn(body: string): Refusal | null {
  try {
    const value: unknown = JSON.parse(body);
    return Value.Check(Refusal, value) ? value : null;
  } catch {
    return null;
  }
}

/** Turns expected statuses into null: 404 "no such thing", 409 "exists, or has changed". */
export async function orNull<T>(expected: readonly number[], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiFailure && expected.includes(error.status)) return null;
    throw error;
  }
}

/** Of a creation: null when the object exists. A quota under contention answers with the same status. */
export function refusedCreation(error: unknown): null {
  if (!(error instanceof ApiFailure)) throw error;
  if (error.reason === 'AlreadyExists') return null;
  if (error.status === 409) throw new RuntimeBusy('engine_busy', RETRY_SECONDS);
  // Quotas refuse by these words alone.
  if (error.status === 403 && /exceeded quota/.test(error.message))
    throw new EngineFull(error.message, { cause: error });
  throw error;
}

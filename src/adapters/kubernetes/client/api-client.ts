import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import {
  OutcomeUnknown,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import { failureOf } from './api-failure.ts';
import type { ClusterAccess } from './cluster-access.ts';

export type ApiCall = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the server: `/api/v1/…`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Of a PATCH; `merge` by default. */
  readonly patch?: 'merge' | 'strategic-merge';
  readonly accept?: string;
  /** For the complete answer. */
  readonly seconds?: number;
};

/** Calls to one API server. */
export type ApiClient = {
  readonly access: ClusterAccess;
  /** The answer as `schema` describes it. Throws `ApiFailure`, `RuntimeUnavailable`, or `OutcomeUnknown` of a change. */
  call<S extends TSchema>(schema: S, call: ApiCall): Promise<Static<S>>;
  /** The answer's body while it comes, until the signal. Throws like `call`. */
  stream(call: ApiCall, signal: AbortSignal): Promise<IncomingMessage>;
};

const SECONDS = 10;

export const apiClient = (access: ClusterAccess): ApiClient => ({
  access,
  async call(schema, call) {
    const limit = AbortSignal.timeout((call.seconds ?? SECONDS) * 1000);
    const body = await bodyOf(access, call, limit);
    const value: unknown = JSON.parse(body);
    if (!Value.Check(schema, value)) {
      const fault = Value.Errors(schema, value).First();
      throw new RuntimeFailure(
        `unknown answer of ${call.method} ${call.path}: ${fault?.path} ${fault?.message}`,
      );
    }
    return value;
  },
  stream: (call, signal) => send(access, call, signal),
});

async function bodyOf(access: ClusterAccess, call: ApiCall, signal: AbortSignal): Promise<string> {
  const answer = await send(access, call, signal);
  try {
    return await text(answer);
  } catch (error) {
    throw brokenOff(call, error, true);
  }
}

/** Resolves with an answer below 400. */
async function send(access: ClusterAccess, call: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
  const options = await access.options();
  const url = new URL(access.server + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value);
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers = { ...options.headers, ...headersOf(call, body) };
  const start = url.protocol === 'https:' ? secureRequest : plainRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = start(url, { ...options, method: call.method, headers, signal }, resolve);
  let isConnected = false;
  request.once('socket', (socket) => {
    isConnected = !socket.connecting;
    if (isConnected) return;
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
  });
  request.on('error', (error) => reject(brokenOff(call, error, isConnected)));
  request.end(body);
  const answer = await promise;
  const { statusCode = 0 } = answer;
  if (statusCode < 400) return answer;
  throw failureOf(statusCode, await text(answer).catch(() => ''), answer.headers['retry-after']);
}

function headersOf(call: ApiCall, body: string | undefined): Record<string, string> {
  const kind =
    call.method === 'PATCH' ? `application/${call.patch ?? 'merge'}-patch+json` : 'application/json';
  return {
    accept: call.accept ?? 'application/json',
    ...(body === undefined
      ? {}
      : { 'content-type': kind, 'content-length': String(Buffer.byteLength(body)) }),
  };
}

/** A change that reached the server may have happened. */
function brokenOff(call: ApiCall, error: unknown, isConnected: boolean): Error {
  const words = `${call.method} ${call.path}: ${error instanceof Error ? error.message : String(error)}`;
  return isConnected && call.method !== 'GET'
    ? new OutcomeUnknown(`the cluster did not answer ${words}`, { cause: error })
    : new RuntimeUnavailable(`the cluster does not answer ${words}`, { cause: error });
}

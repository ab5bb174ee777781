import { checkTokenRequest, type TokenRequest } from '../../../../domain/identity/token.ts';
import { orThrow } from '../../errors.ts';
import { UnknownFields } from '../../validation-errors.ts';

const FIELDS: ReadonlySet<string> = new Set(['name', 'scopes', 'expires_in']);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the body of a request for a token, which may be any JSON. Faults of known fields come before unknown fields. */
export function readTokenRequest(body: unknown): TokenRequest {
  const given: Readonly<Record<string, unknown>> = isRecord(body) ? body : {};
  const { name, scopes, expires_in: lifeDays } = given;
  const request = orThrow(checkTokenRequest({ name, scopes, lifeDays }));
  const unknown = Object.keys(given).filter((key) => !FIELDS.has(key));
  if (unknown.length > 0) throw new UnknownFields(unknown);
  return request;
}

import type { ChildDraft } from '../../../../domain/identity/child-token.ts';
import { checkTokenRequest, type TokenRequest } from '../../../../domain/identity/token.ts';
import { orThrow } from '../../errors.ts';
import { UnknownFields } from '../../validation-errors.ts';

const FIELDS: readonly string[] = ['name', 'scopes', 'expires_in'];
const CHILD_FIELDS: readonly string[] = [
  ...FIELDS,
  'expires_in_minutes',
  'containers',
  'max_uses',
  'parent_id',
];

type Given = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const givenIn = (body: unknown): Given => (isRecord(body) ? body : {});

function refuseUnknown(given: Given, fields: readonly string[]): void {
  const unknown = Object.keys(given).filter((key) => !fields.includes(key));
  if (unknown.length > 0) throw new UnknownFields(unknown);
}

/** Reads the body of a request for a token, which may be any JSON. Faults of known fields come before unknown fields. */
export function readTokenRequest(body: unknown): TokenRequest {
  const given = givenIn(body);
  const { name, scopes, expires_in: lifeDays } = given;
  const request = orThrow(checkTokenRequest({ name, scopes, lifeDays }));
  refuseUnknown(given, FIELDS);
  return request;
}

/** Reads the body of a request for a child token, which may be any JSON. The use case finds faults of the values. */
export function readChildDraft(body: unknown): ChildDraft {
  const given = givenIn(body);
  refuseUnknown(given, CHILD_FIELDS);
  const { expires_in: lifeDays, expires_in_minutes: expiresInMinutes, max_uses: maxUses } = given;
  const { name, scopes, containers, parent_id: parentId } = given;
  return { name, scopes, containers, lifeDays, expiresInMinutes, maxUses, parentId };
}

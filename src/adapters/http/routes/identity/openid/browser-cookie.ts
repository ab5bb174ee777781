import { randomBytes } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setCookie } from '../sign-in-reply.ts';

const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** Longer than a sign-in at the provider may take. */
const MAX_AGE_SECONDS = 1800;

/** With the prefix, browsers accept it from this very host only, so that no neighbour can plant one. */
const nameOf = (secure: boolean): string => (secure ? '__Host-berth_provider' : 'berth_provider');

/** The browser's secret, which ties a provider's answer to it; null without one, or when it has two. */
export function browserSecret(request: FastifyRequest, secure: boolean): string | null {
  const header = request.headers.cookie ?? '';
  const name = nameOf(secure);
  const count = header.split(';').filter((pair) => pair.split('=', 1)[0]?.trim() === name).length;
  const value = parseCookie(header)[name];
  return count === 1 && value !== undefined && SECRET.test(value) ? value : null;
}

/** The browser's secret, or a new one. Lax: the provider's redirect must carry it. */
export function keepBrowserSecret(request: FastifyRequest, reply: FastifyReply, secure: boolean): string {
  const secret = browserSecret(request, secure) ?? randomBytes(32).toString('base64url');
  const attributes = { path: '/', httpOnly: true, secure, maxAge: MAX_AGE_SECONDS };
  setCookie(reply, { name: nameOf(secure), value: secret, ...attributes, sameSite: 'lax' });
  return secret;
}

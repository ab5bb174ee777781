import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PendingSignIn } from '../../../../app/identity/sign-in/pending-sign-in.ts';
import type { SignedIn } from '../../../../app/identity/sign-in/sign-in.ts';
import { Refusal } from '../../../../domain/errors.ts';
import type { LoginTokens } from '../../auth/login-token.ts';
import type { LoginBody, MfaRequiredBody, SignedInBody } from '../../schema/identity/sign-in.ts';
import { serializeUser } from './user-body.ts';

const REFRESH_COOKIE = 'berth_refresh';
const PATH = '/api/auth';

/** No plugin sets cookies: its hooks would cost every request. */
export const setCookie = (reply: FastifyReply, cookie: SetCookie): FastifyReply =>
  reply.header('set-cookie', stringifySetCookie(cookie));

export type SignedInAnswer = (reply: FastifyReply, signedIn: SignedIn) => SignedInBody;

/** The login token in the body, the refresh token in a cookie that scripts cannot read. `secure`: only over https. */
export const signedInAnswer =
  (tokens: LoginTokens, secure: boolean): SignedInAnswer =>
  (reply, { session, user, refreshToken }) => {
    const { token, expiresAt } = tokens.sign({ userId: user.id, sessionId: session.id });
    const attributes = { path: PATH, httpOnly: true, secure, expires: session.expiresAt };
    setCookie(reply, { name: REFRESH_COOKIE, value: refreshToken, ...attributes, sameSite: 'strict' });
    return {
      token,
      expires_at: expiresAt.toISOString(),
      session_id: session.id,
      user: serializeUser(user),
    };
  };

/** A session, or the token for the second factor. */
export const loginAnswer =
  (signedIn: SignedInAnswer) =>
  (reply: FastifyReply, outcome: SignedIn | PendingSignIn): LoginBody =>
    'mfaToken' in outcome ? toWaitingBody(outcome) : signedIn(reply, outcome);

export const toWaitingBody = ({ mfaToken, expiresAt, methods }: PendingSignIn): MfaRequiredBody => ({
  mfa_required: true,
  mfa_token: mfaToken,
  expires_at: expiresAt.toISOString(),
  methods: [...methods],
});

/**
 * The refresh token. Another site under the same domain can set a second one, which browsers send too. Then neither is
 * accepted, and ours is cleared.
 */
export function refreshCookie(request: FastifyRequest, reply: FastifyReply): string {
  const header = request.headers.cookie ?? '';
  const count = header.split(';').filter((pair) => pair.split('=', 1)[0]?.trim() === REFRESH_COOKIE).length;
  const value = parseCookie(header)[REFRESH_COOKIE];
  if (count === 1 && value !== undefined && value.length <= 128) return value;
  if (count > 1) clearRefreshCookie(reply);
  throw new Refusal({ code: 'unauthorized' });
}

export const clearRefreshCookie = (reply: FastifyReply): FastifyReply =>
  setCookie(reply, { name: REFRESH_COOKIE, value: '', path: PATH, sameSite: 'lax', expires: new Date(0) });

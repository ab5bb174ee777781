import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Test } from 'tap';
import { addressOf } from '../listen.ts';

/** Somebody at the provider. */
export type AtProvider = {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
  readonly sid?: string;
  readonly auth_time?: number;
};

/** How a token differs from a right one. */
export type Forgery = {
  readonly claims?: JWTPayload;
  readonly without?: readonly string[];
  /** What the provider says beside the ID token. */
  readonly userinfo?: JWTPayload;
  /** With another key than the provider's, or with none. */
  readonly key?: 'foreign' | 'none';
};

type Grant = {
  readonly who: AtProvider;
  readonly forgery: Forgery;
  readonly nonce: string;
  readonly challenge: string;
};

export const CLIENT = { clientId: 'berth', clientSecret: 'a secret of the client' };

export type ScriptedProvider = Awaited<ReturnType<typeof scriptedProvider>>;

const now = (): number => Math.floor(Date.now() / 1000);

/** An OpenID provider on this machine that signs what a test wants. */
export async function scriptedProvider(t: Test) {
  const right = await generateKeyPair('ES256');
  const foreign = await generateKeyPair('ES256');
  const publicKey = { ...(await exportJWK(right.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const people = new Map<string, JWTPayload>();
  const broken = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  const issuer = await addressOf(t, server);

  async function sign(claims: JWTPayload, { claims: more, without = [], key }: Forgery, typ: string) {
    const all: JWTPayload = {
      iss: issuer,
      aud: CLIENT.clientId,
      iat: now(),
      exp: now() + 300,
      ...claims,
      ...more,
    };
    for (const name of without) delete all[name];
    if (key === 'none') {
      const parts = [{ alg: 'none', typ }, all].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      return `${parts.join('.')}.`;
    }
    const { privateKey } = key === 'foreign' ? foreign : right;
    return await new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'one', typ }).sign(privateKey);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (broken.has(pathname)) return send(503, { error: 'temporarily_unavailable' });
    if (pathname === '/.well-known/openid-configuration') {
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        end_session_endpoint: `${issuer}/end`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        authorization_response_iss_parameter_supported: true,
      });
    }
    if (pathname === '/jwks') return send(200, { keys: [publicKey] });
    if (pathname === '/userinfo') {
      return send(200, people.get(request.headers.authorization?.split(' ')[1] ?? '') ?? {});
    }
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(body).toString());
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge) return send(400, { error: 'invalid_grant' });
    const { who, forgery, nonce } = grant;
    const idToken = await sign({ auth_time: now(), ...who, nonce }, forgery, 'JWT');
    const token = randomBytes(16).toString('hex');
    people.set(token, { sub: who.sub, ...forgery.userinfo });
    return send(200, { access_token: token, token_type: 'Bearer', expires_in: 300, id_token: idToken });
  }

  return {
    issuer,
    close: () => server.close(),

    /** Answers 503 at this path, such as `/token`, from now on. */
    break: (path: string) => void broken.add(path),

    /** Signs somebody in; returns where the provider sends the browser. */
    authorize(authorizationUrl: string, who: AtProvider, forgery: Forgery = {}): URL {
      const asked = new URL(authorizationUrl).searchParams;
      const code = randomBytes(16).toString('hex');
      const [nonce = '', challenge = ''] = [asked.get('nonce') ?? '', asked.get('code_challenge') ?? ''];
      grants.set(code, { who, forgery, nonce, challenge });
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer }).toString();
      return back;
    },

    /** A token that signs somebody out. */
    logoutToken: (claims: JWTPayload, forgery: Forgery = {}): Promise<string> =>
      sign(
        {
          jti: randomBytes(8).toString('hex'),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        forgery,
        'logout+jwt',
      ),
  };
}

import type { Idempotency } from '../../../../app/idempotency.ts';
import type { MintedToken, NoteToken } from '../../../../app/identity/account/token-records.ts';
import type { ApiTokens } from '../../../../app/identity/account/tokens.ts';
import { type DomainError, Refusal } from '../../../../domain/errors.ts';
import type { Caller } from '../../../../domain/identity/caller.ts';
import type { ApiToken } from '../../../../domain/identity/token.ts';
import type { Result } from '../../../../domain/result.ts';
import { orThrow } from '../../errors.ts';
import { IdempotencyHeaders, onlyOnce } from '../../idempotency.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/identity/tokens.ts';
import type { Routes } from '../../server.ts';
import { readChildDraft, readTokenRequest } from './token-request.ts';

export const tokenRoutes =
  (tokens: ApiTokens, keys: Idempotency): Routes =>
  (http, logins) => {
    createRoute(tokens, keys)(http, logins);
    deriveRoute(tokens, keys)(http, logins);
    listRoutes(tokens)(http, logins);
    validateRoute(http, logins);
  };

const createRoute =
  (tokens: ApiTokens, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      '/api/tokens',
      {
        // The schema is documentation; `readTokenRequest` has the words of each fault.
        validatorCompiler: () => () => true,
        ...operation('tokens.create', 'Create an API token', {
          config: {
            scope: 'login',
            shutAfterReset: true,
            makesRecord: true,
            failure: 'failed to create token',
            failureOfDatabase: true,
          },
          refusals: ['not_authorized', 'token_already_created', 'token_limit_reached'],
          headers: IdempotencyHeaders,
          body: schema.TokenRequestBody,
          response: { 201: schema.CreatedTokenBody },
        }),
      },
      async (request, reply) => {
        const { caller, origin } = request;
        const { token, secret } = await mintedOnce(keys, request, reply, (note) =>
          tokens.create(readTokenRequest(request.body), caller, origin, note),
        );
        return reply.code(201).send({ token: secret, ...toCreatedBody(token) });
      },
    );
  };

const deriveRoute =
  (tokens: ApiTokens, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      '/api/tokens/derive',
      {
        validatorCompiler: () => () => true,
        ...operation('tokens.derive', 'Create a token that can do at most what yours can', {
          config: {
            scope: 'read',
            shutAfterReset: true,
            forRestricted: true,
            makesRecord: true,
            failure: 'failed to create token',
            failureOfDatabase: true,
          },
          refusals: ['not_authorized', 'token_already_created', 'token_limit_reached', 'token_cannot_derive'],
          headers: IdempotencyHeaders,
          body: schema.ChildTokenRequestBody,
          response: { 201: schema.DerivedTokenBody },
        }),
      },
      async (request, reply) => {
        const { caller, origin } = request;
        const { token, secret } = await mintedOnce(keys, request, reply, (note) =>
          tokens.derive(readChildDraft(request.body), caller, origin, note),
        );
        return reply.code(201).send({ token: secret, ...toCreatedBody(token), ...toLineage(token) });
      },
    );
  };

/** A repeat of a request gets no secret: only its first answer has it. */
async function mintedOnce(
  keys: Idempotency,
  request: Parameters<typeof onlyOnce>[1],
  reply: Parameters<typeof onlyOnce>[2],
  mint: (note: NoteToken) => Promise<Result<MintedToken, DomainError>>,
): Promise<MintedToken> {
  let created: MintedToken | null = null;
  const { body } = await onlyOnce(keys, request, reply, {
    first: async (note) => {
      created = orThrow(await mint((tx, token) => note(tx, subjectOf(token))));
      return withoutSecret(subjectOf(created.token));
    },
    replay: async (subject) => withoutSecret(subject),
  });
  if (created === null) throw new Refusal({ code: 'token_already_created', ...body });
  return created;
}

const listRoutes =
  (tokens: ApiTokens): Routes =>
  (http) => {
    http.get(
      '/api/tokens',
      operation('tokens.list', 'List your API tokens', {
        config: { scope: 'login', failure: 'failed to list tokens' },
        querystring: schema.TokenListQuery,
        response: { 200: schema.TokenList },
      }),
      async ({ caller, query }) => listBody('tokens', (await tokens.list(caller)).map(toBody), query, 'id'),
    );

    http.post(
      '/api/tokens/:id/revoke',
      operation('tokens.revoke', 'Revoke an API token', {
        config: {
          scope: 'login',
          shutAfterReset: true,
          failure: 'failed to revoke token',
        },
        refusals: ['token_not_found'],
        params: IdParams,
        response: { 200: schema.RevokedTokenBody },
      }),
      async (request) => {
        const { id, revokedAt } = orThrow(
          await tokens.revoke(request.params.id, request.caller, request.origin),
        );
        return { id, revoked: true as const, revoked_at: revokedAt?.toISOString() ?? null };
      },
    );

    http.delete(
      '/api/tokens/:id',
      operation('tokens.delete', 'Delete an API token', {
        config: {
          scope: 'login',
          shutAfterReset: true,
          failure: 'failed to delete token',
        },
        refusals: ['token_not_found'],
        params: IdParams,
        response: { 200: schema.DeletedTokenBody },
      }),
      async (request) => {
        const { id } = orThrow(await tokens.delete(request.params.id, request.caller, request.origin));
        return { id, deleted: true as const };
      },
    );
  };

// Not async: scripts call it constantly, and a promise is a tenth of its cost.
const validateRoute: Routes = (http) => {
  http.get(
    '/api/tokens/validate',
    operation('tokens.validate', 'Read the rights of the API token that asks', {
      config: { scope: 'api_token', forRestricted: true },
      response: { 200: schema.ValidTokenBody },
    }),
    (request, reply) => {
      reply.send(toValidBody(request.caller));
    },
  );
};

const UNLIMITED = { containers: null, uses_left: null } as const;

/** What is stored of a token for a repeated creation: never the secret. */
const subjectOf = ({ id, prefix }: ApiToken): string => `${id} ${prefix}`;

function withoutSecret(subject: string) {
  const [id = '', prefix = ''] = subject.split(' ');
  return { status: 201, body: { id, prefix } };
}

const toCreatedBody = (token: ApiToken): Omit<schema.CreatedTokenBody, 'token'> => {
  const { id, name, token_prefix, scopes, created_at, expires_at } = toBody(token);
  return { token_prefix, expires_at, id, name, scopes, created_at };
};

const serializeToken = bodyOf(schema.TokenBody);

const toBody = (token: ApiToken) => serializeToken({ ...token, tokenPrefix: token.prefix });

const toLineage = ({ parentId, containers, maxUses, usesLeft }: ApiToken) => ({
  parent_id: parentId,
  containers: containers === null ? null : [...containers],
  max_uses: maxUses,
  uses_left: usesLeft,
});

function toValidBody({ user, credential }: Caller): schema.ValidTokenBody {
  const { id, username, email, tier, role } = user;
  const whose = { id, username, email, tier, role };
  // The route's scope admits no other.
  if (credential.kind !== 'api_token') return { valid: true, scopes: [], ...UNLIMITED, user: whose };
  const { scopes, containers, usesLeft } = credential;
  return {
    valid: true,
    scopes: [...scopes],
    containers: containers === null ? null : [...containers],
    uses_left: usesLeft,
    user: whose,
  };
}

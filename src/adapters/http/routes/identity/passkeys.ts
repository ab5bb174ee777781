import type { Passkeys } from '../../../../app/identity/account/passkeys.ts';
import { orThrow } from '../../errors.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/identity/second-factor.ts';
import { joinRoutes, type Routes } from '../../server.ts';

const config = { scope: 'login' } as const;
const end = { ...config, shutAfterReset: true } as const;
const change = { ...end, makesRecord: true } as const;

export const passkeyRoutes = (passkeys: Passkeys): Routes =>
  joinRoutes(registrationRoutes(passkeys), changeRoutes(passkeys));

const registrationRoutes =
  (passkeys: Passkeys): Routes =>
  (http) => {
    http.get(
      '/api/me/passkeys',
      operation('passkeys.list', 'List your passkeys', {
        config,
        querystring: schema.PasskeyListQuery,
        response: { 200: schema.PasskeyList },
      }),
      async ({ caller, query }) =>
        listBody('passkeys', (await passkeys.list(caller)).map(serializePasskey), query, 'id'),
    );

    http.post(
      '/api/me/passkeys/options',
      operation('passkeys.options', 'Get a challenge to register a passkey', {
        config: change,
        refusals: [...refusals.CONFIRMATION, 'passkeys_unavailable', 'passkey_limit_reached'],
        body: schema.ConfirmationRequest,
        response: { 200: schema.BrowserOptionsBody },
      }),
      async ({ caller, body, origin }) => orThrow(await passkeys.begin(caller, body, origin)),
    );

    http.post(
      '/api/me/passkeys/verify',
      operation('passkeys.register', 'Register a passkey', {
        config: change,
        refusals: ['passkeys_unavailable', 'passkey_rejected', 'passkey_registered', 'passkey_limit_reached'],
        body: schema.PasskeyRegistration,
        response: { 201: schema.PasskeyBody },
      }),
      async ({ caller, body, origin }, reply) => {
        const made = orThrow(await passkeys.register(caller, body.credential, body.name, origin));
        return reply.code(201).send(serializePasskey(made));
      },
    );
  };

const changeRoutes =
  (passkeys: Passkeys): Routes =>
  (http) => {
    http.patch(
      '/api/me/passkeys/:id',
      operation('passkeys.rename', 'Rename a passkey', {
        config: change,
        refusals: ['passkey_not_found'],
        params: IdParams,
        body: schema.PasskeyChange,
        response: { 200: schema.PasskeyBody },
      }),
      async ({ caller, params, body, origin }) =>
        serializePasskey(orThrow(await passkeys.rename(params.id, body.name, caller, origin))),
    );

    http.delete(
      '/api/me/passkeys/:id',
      operation('passkeys.delete', 'Delete a passkey', {
        config: end,
        description: "Ends the user's other sessions.",
        refusals: [...refusals.CONFIRMATION, 'passkey_not_found'],
        params: IdParams,
        body: schema.ConfirmationRequest,
        response: { 200: schema.DeletedBody },
      }),
      async ({ caller, params, body, origin }) => {
        orThrow(await passkeys.remove(params.id, caller, body, origin));
        return { id: params.id, deleted: true };
      },
    );
  };

const serializePasskey = bodyOf(schema.PasskeyBody);

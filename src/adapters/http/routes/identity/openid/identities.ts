import type { ConnectedIdentities } from '../../../../../app/identity/openid/connected-identities.ts';
import { orThrow } from '../../../errors.ts';
import { listBody } from '../../../list-pages.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { bodyOf } from '../../../replies/bodies.ts';
import { IdParams } from '../../../schema/common.ts';
import * as bodies from '../../../schema/identity/openid.ts';
import { ConfirmationRequest } from '../../../schema/identity/second-factor.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { browserSecret, keepBrowserSecret } from './browser-cookie.ts';

const config = { scope: 'login' } as const;
const change = { ...config, shutAfterReset: true } as const;

export type IdentityRouteDeps = {
  readonly identities: ConnectedIdentities;
  readonly secureCookie: boolean;
};

/** A user's own sign-ins at the OpenID provider. */
export const identityRoutes = (deps: IdentityRouteDeps): Routes =>
  joinRoutes(changeRoutes(deps), providerRoutes(deps));

const changeRoutes =
  ({ identities }: IdentityRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/me/identities',
      operation('identities.list', 'List your connected sign-ins', {
        config,
        querystring: bodies.IdentityListQuery,
        response: { 200: bodies.IdentityList },
      }),
      async ({ caller, query }) =>
        listBody('identities', (await identities.list(caller)).map(serializeIdentity), query, 'id'),
    );

    http.delete(
      '/api/me/identities/:id',
      operation('identities.delete', 'Disconnect a sign-in', {
        config: change,
        description: "Ends the user's other sessions.",
        refusals: [...refusals.CONFIRMATION, 'identity_not_found', 'identity_needed'],
        params: IdParams,
        body: ConfirmationRequest,
        response: { 200: bodies.IdentityRemovedBody },
      }),
      async ({ caller, params, body, origin }) => {
        orThrow(await identities.remove(params.id, body, caller, origin));
        return { id: params.id, deleted: true };
      },
    );
  };

const providerRoutes =
  ({ identities, secureCookie }: IdentityRouteDeps): Routes =>
  (http) => {
    http.post(
      '/api/me/identities/start',
      operation('identities.start', 'Get the address to connect or confirm at the OpenID provider', {
        config,
        refusals: [
          ...refusals.CONFIRMATION,
          'new_password_required',
          'provider_not_set_up',
          'provider_unavailable',
        ],
        body: bodies.IdentityStart,
        response: { 200: bodies.ProviderUrl },
      }),
      async (request, reply) => {
        const { purpose, return: returnPath, ...given } = request.body;
        const browser = keepBrowserSecret(request, reply, secureCookie);
        const wanted = { purpose, returnPath, browser };
        return { url: orThrow(await identities.begin(wanted, given, request.caller, request.origin)).href };
      },
    );

    http.post(
      '/api/me/identities/finish',
      operation('identities.finish', 'Complete what the OpenID provider answered', {
        config,
        refusals: [
          'provider_sign_in_expired',
          'provider_rejected',
          'provider_other_person',
          'provider_time_missing',
          'identity_taken',
          'identity_limit_reached',
        ],
        body: bodies.ProviderFinish,
        response: { 200: bodies.IdentityFinishedBody },
      }),
      async (request) => {
        const browser = browserSecret(request, secureCookie);
        const { id } = request.body;
        const done = orThrow(await identities.finish(id, browser, request.caller, request.origin));
        return done.purpose === 'link'
          ? { purpose: 'link' as const, identity: serializeIdentity(done.identity) }
          : { purpose: 'confirm' as const, identity: null };
      },
    );
  };

const serializeIdentity = bodyOf(bodies.IdentityBody);

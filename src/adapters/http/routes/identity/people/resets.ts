import type { RemainingCredential } from '../../../../../app/identity/people/remaining-credentials.ts';
import type { Resets } from '../../../../../app/identity/people/resets.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import { paged } from '../../../pagination.ts';
import * as refusals from '../../../refusals.ts';
import { IdParams } from '../../../schema/common.ts';
import * as schema from '../../../schema/identity/people/account-links.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { signedInAnswer, toWaitingBody } from '../sign-in-reply.ts';
import { linkUrl, toResetLinkBody, toResetOffer } from './link-bodies.ts';

export type ResetRouteDeps = {
  readonly resets: Resets;
  readonly secureCookie: boolean;
  /** Where browsers reach the page that resets. */
  readonly publicUrl: () => string;
};

export const resetRoutes = (deps: ResetRouteDeps): Routes =>
  joinRoutes(createRoute(deps), linkRoutes(deps), useRoutes(deps));

const createRoute =
  ({ resets, publicUrl }: ResetRouteDeps): Routes =>
  (http) => {
    http.post(
      '/api/admin/users/:id/reset-links',
      operation(
        'adminResetLinks.create',
        'Make a link that resets the password or the second factor of a user',
        {
          config: { scope: 'admin', failure: 'failed to create reset link' },
          refusals: [
            ...refusals.CONFIRMATION,
            ...(['login_token_required', 'user_not_found', 'own_account', 'user_disabled'] as const),
            ...(['mfa_not_enabled', 'link_limit_reached'] as const),
          ],
          params: IdParams,
          body: schema.ResetLinkRequest,
          response: { 201: schema.ResetLinkMadeBody },
        },
      ),
      async ({ params, body: { kind, ...given }, caller, origin }, reply) => {
        const made = orThrow(await resets.create(params.id, kind, given, caller, origin));
        const url = linkUrl(publicUrl(), 'reset', made.code);
        return reply.code(201).send({ ...toResetLinkBody(made), url });
      },
    );
  };

const linkRoutes =
  ({ resets }: ResetRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/admin/reset-links',
      operation('adminResetLinks.list', 'List the reset links', {
        config: { scope: 'admin', failure: 'failed to list reset links' },
        querystring: schema.LinkPageQuery,
        response: { 200: schema.ResetLinkPage },
      }),
      async ({ query }) => {
        const { items, next } = await paged(query, (request) =>
          resets.list({ ...request, onlyOpen: query.state === 'open' }),
        );
        return { reset_links: items.map(toResetLinkBody), next_cursor: next };
      },
    );

    http.delete(
      '/api/admin/reset-links/:id',
      operation('adminResetLinks.withdraw', 'Withdraw an unused reset link', {
        config: { scope: 'admin', failure: 'failed to withdraw reset link' },
        refusals: ['reset_link_not_found'],
        params: IdParams,
        response: { 200: schema.LinkWithdrawnBody },
      }),
      async ({ params: { id }, caller, origin }) => {
        orThrow(await resets.withdraw(id, caller, origin));
        return { id, withdrawn: true as const };
      },
    );
  };

const publicly = { scope: 'public' } as const;

const useRoutes =
  ({ resets, secureCookie }: ResetRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);

    http.post(
      '/api/auth/resets/check',
      operation('auth.checkReset', 'Read what a reset link resets', {
        config: publicly,
        refusals: ['link_not_valid'],
        body: schema.LinkCodeRequest,
        response: { 200: schema.ResetOfferBody },
      }),
      async ({ body, origin }) => toResetOffer(orThrow(await resets.check(body.code, origin))),
    );

    http.post(
      '/api/auth/resets/use',
      operation('auth.useReset', 'Reset the password or the second factor, and sign in', {
        config: publicly,
        description:
          'Ends all sessions and API tokens of the user, and lists what remains. After a new password, a second factor is still asked for.',
        refusals: ['link_not_valid', 'wrong_password'],
        body: schema.ResetRequest,
        response: { 200: schema.ResetDoneBody },
      }),
      async ({ body: { code, password }, origin }, reply) => {
        const opened = orThrow(await resets.use(code, password, origin));
        if ('mfaToken' in opened) return toWaitingBody(opened);
        return { ...answer(reply, opened), remaining: opened.remaining.map(toRemaining) };
      },
    );
  };

const toRemaining = ({ kind, id, name, createdAt }: RemainingCredential) => ({
  kind,
  id,
  name,
  created_at: createdAt.toISOString(),
});

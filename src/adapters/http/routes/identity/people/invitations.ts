import type { Static } from '@sinclair/typebox';
import type { InvitationRequest, Invitations } from '../../../../../app/identity/people/invitations.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import { paged, timeOrNull } from '../../../pagination.ts';
import * as refusals from '../../../refusals.ts';
import { IdParams } from '../../../schema/common.ts';
import * as schema from '../../../schema/identity/people/account-links.ts';
import { SignedInBody } from '../../../schema/identity/sign-in.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { signedInAnswer } from '../sign-in-reply.ts';
import { linkUrl, toInvitationBody, toInvitationOffer } from './link-bodies.ts';

export type InvitationRouteDeps = {
  readonly invitations: Invitations;
  readonly secureCookie: boolean;
  /** Where browsers reach the page that accepts. */
  readonly publicUrl: () => string;
};

export const invitationRoutes = (deps: InvitationRouteDeps): Routes =>
  joinRoutes(adminRoutes(deps), acceptRoutes(deps));

const adminRoutes =
  ({ invitations, publicUrl }: InvitationRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/admin/invitations',
      operation('adminInvitations.list', 'List the invitations', {
        config: { scope: 'admin', failure: 'failed to list invitations' },
        querystring: schema.LinkPageQuery,
        response: { 200: schema.InvitationPage },
      }),
      async ({ query }) => {
        const { items, next } = await paged(query, (request) =>
          invitations.list({ ...request, onlyOpen: query.state === 'open' }),
        );
        return { invitations: items.map(toInvitationBody), next_cursor: next };
      },
    );

    http.post(
      '/api/admin/invitations',
      operation('adminInvitations.create', 'Invite a person by a link', {
        config: { scope: 'admin', failure: 'failed to create invitation' },
        refusals: [
          ...refusals.CONFIRMATION,
          ...(['login_token_required', 'token_dependent', 'link_limit_reached'] as const),
        ],
        body: schema.InvitationRequest,
        response: { 201: schema.InvitationMadeBody },
      }),
      async ({ body: { password, code, ...body }, caller, origin }, reply) => {
        const made = orThrow(await invitations.create(toRequest(body), { password, code }, caller, origin));
        const url = linkUrl(publicUrl(), 'invite', made.code);
        return reply.code(201).send({ ...toInvitationBody(made), url });
      },
    );

    http.delete(
      '/api/admin/invitations/:id',
      operation('adminInvitations.withdraw', 'Withdraw an unused invitation', {
        config: { scope: 'admin', failure: 'failed to withdraw invitation' },
        refusals: ['invitation_not_found'],
        params: IdParams,
        response: { 200: schema.LinkWithdrawnBody },
      }),
      async ({ params: { id }, caller, origin }) => {
        orThrow(await invitations.withdraw(id, caller, origin));
        return { id, withdrawn: true as const };
      },
    );
  };

const toRequest = ({
  expires_in_hours: lifeHours,
  account_ends_at: endsAt,
  ...asked
}: Static<typeof schema.InvitationRequest>): InvitationRequest => ({
  ...asked,
  ...(lifeHours === undefined ? {} : { lifeHours }),
  ...(endsAt === undefined ? {} : { accountEndsAt: timeOrNull(endsAt, 'account_ends_at') }),
});

const publicly = { scope: 'public' } as const;

const acceptRoutes =
  ({ invitations, secureCookie }: InvitationRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);

    http.post(
      '/api/auth/invitations/check',
      operation('auth.checkInvitation', 'Read what an invitation offers', {
        config: publicly,
        refusals: ['link_not_valid'],
        body: schema.LinkCodeRequest,
        response: { 200: schema.InvitationOfferBody },
      }),
      async ({ body, origin }) => toInvitationOffer(orThrow(await invitations.check(body.code, origin))),
    );

    http.post(
      '/api/auth/invitations/accept',
      operation('auth.acceptInvitation', 'Accept an invitation and sign in', {
        config: publicly,
        refusals: ['link_not_valid'],
        body: schema.AcceptRequest,
        response: { 201: SignedInBody },
      }),
      async ({ body: { code, ...person }, origin }, reply) =>
        answer(reply.code(201), orThrow(await invitations.accept(code, person, origin))),
    );
  };

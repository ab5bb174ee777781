import { LINK_NOT_VALID } from '../../../../../app/identity/people/account-links.ts';
import { Refusal } from '../../../../../domain/errors.ts';
import { linkState } from '../../../../../domain/identity/people/account-link.ts';
import type { NamedLink } from '../../../../../ports/identity/people/account-link-repository.ts';
import { bodyOf } from '../../../replies/bodies.ts';
import {
  InvitationBody,
  InvitationOfferBody,
  ResetLinkBody,
  type ResetOfferBody,
} from '../../../schema/identity/people/account-links.ts';

const serializeInvitation = bodyOf(InvitationBody);
const serializeOffer = bodyOf(InvitationOfferBody);
const serializeResetLink = bodyOf(ResetLinkBody);

const common = ({ link, creatorName, now }: NamedLink) => ({
  ...link,
  state: linkState(link, now),
  createdBy: { id: link.createdBy, username: creatorName },
});

export function toInvitationBody(named: NamedLink): InvitationBody {
  const { purpose } = named.link;
  if (purpose.kind !== 'invitation') throw new Refusal(LINK_NOT_VALID);
  const { madeUserId: id } = purpose;
  const user = id === null ? null : { id, username: named.username ?? '' };
  return serializeInvitation({ ...common(named), ...purpose, user });
}

export function toInvitationOffer({ link, creatorName }: NamedLink): InvitationOfferBody {
  const { purpose, expiresAt } = link;
  if (purpose.kind !== 'invitation') throw new Refusal(LINK_NOT_VALID);
  return serializeOffer({ ...purpose, expiresAt, invitedBy: creatorName });
}

export function toResetLinkBody(named: NamedLink): ResetLinkBody {
  const { purpose } = named.link;
  if (purpose.kind === 'invitation') throw new Refusal(LINK_NOT_VALID);
  const { kind, userId: id } = purpose;
  return serializeResetLink({ ...common(named), kind, user: { id, username: named.username ?? '' } });
}

export function toResetOffer({ link: { purpose, expiresAt }, username }: NamedLink): ResetOfferBody {
  if (purpose.kind === 'invitation') throw new Refusal(LINK_NOT_VALID);
  return { kind: purpose.kind, username: username ?? '', expires_at: expiresAt.toISOString() };
}

/** The address of a link. The code is behind `#`, so that no request and no log has it. */
export const linkUrl = (publicUrl: string, page: 'invite' | 'reset', code: string): string =>
  `${publicUrl}/${page}#code=${code}`;

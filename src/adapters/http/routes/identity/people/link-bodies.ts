import { LINK_NOT_VALID } from '../../../../../app/identity/people/account-links.ts';
import { Refusal } from '../../../../../domain/errors.ts';
import { linkState } from '../../../../../domain/identity/people/account-link.ts';
import type { NamedLink } from '../../../../../ports/identity/people/account-link-repository.ts';
import type {
  InvitationBody,
  InvitationOfferBody,
  ResetLinkBody,
  ResetOfferBody,
} from '../../../schema/identity/people/account-links.ts';

const common = ({ link, creatorName, now }: NamedLink) => ({
  id: link.id,
  state: linkState(link, now),
  created_at: link.createdAt.toISOString(),
  created_by: { id: link.createdBy, username: creatorName },
  expires_at: link.expiresAt.toISOString(),
  used_at: link.usedAt?.toISOString() ?? null,
  withdrawn_at: link.withdrawnAt?.toISOString() ?? null,
});

export function toInvitationBody(named: NamedLink): InvitationBody {
  const { purpose } = named.link;
  if (purpose.kind !== 'invitation') throw new Refusal(LINK_NOT_VALID);
  const { role, tier, email, username, accountEndsAt, madeUserId: id } = purpose;
  const ends = { account_ends_at: accountEndsAt?.toISOString() ?? null };
  const user = id === null ? null : { id, username: named.username ?? '' };
  return { ...common(named), role, tier, email, username, ...ends, user };
}

export function toInvitationOffer({ link, creatorName }: NamedLink): InvitationOfferBody {
  const { purpose, expiresAt } = link;
  if (purpose.kind !== 'invitation') throw new Refusal(LINK_NOT_VALID);
  const { role, tier, email, username, accountEndsAt } = purpose;
  return {
    role,
    tier,
    email,
    username,
    account_ends_at: accountEndsAt?.toISOString() ?? null,
    invited_by: creatorName,
    expires_at: expiresAt.toISOString(),
  };
}

export function toResetLinkBody(named: NamedLink): ResetLinkBody {
  const { purpose } = named.link;
  if (purpose.kind === 'invitation') throw new Refusal(LINK_NOT_VALID);
  const { kind, userId: id } = purpose;
  return { ...common(named), kind, user: { id, username: named.username ?? '' } };
}

export function toResetOffer({ link: { purpose, expiresAt }, username }: NamedLink): ResetOfferBody {
  if (purpose.kind === 'invitation') throw new Refusal(LINK_NOT_VALID);
  return { kind: purpose.kind, username: username ?? '', expires_at: expiresAt.toISOString() };
}

/** The address of a link. The code is behind `#`, so that no request and no log has it. */
export const linkUrl = (publicUrl: string, page: 'invite' | 'reset', code: string): string =>
  `${publicUrl}/${page}#code=${code}`;

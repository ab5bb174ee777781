import { randomUUID } from 'node:crypto';
import { type AccountLink, linkState } from '../../../../domain/identity/people/account-link.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type {
  AccountLinkRepository,
  NamedLink,
} from '../../../../ports/identity/people/account-link-repository.ts';
import type { MemoryState } from '../../memory-state.ts';
import { pageOf } from '../../pagination.ts';

const HOUR_MS = 3_600_000;

/** The account that a link changes, or has made. */
const accountOf = ({ purpose }: AccountLink): string | null =>
  purpose.kind === 'invitation' ? purpose.madeUserId : purpose.userId;

type StoredLink = MemoryState['accountLinks'][number];

/** What is stored of the links, and how it changes. */
function linksOf(state: MemoryState, clock: Clock) {
  const nameOf = (id: string | null): string | null =>
    state.users.find((user) => user.id === id)?.username ?? null;
  const named = ({ codeHash: _, ...link }: StoredLink): NamedLink => ({
    link,
    creatorName: nameOf(link.createdBy) ?? '',
    username: nameOf(accountOf(link)),
    now: clock.now(),
  });
  const isOpen = (link: AccountLink): boolean => linkState(link, clock.now()) === 'open';
  const change = (
    which: (link: AccountLink) => boolean,
    to: (link: AccountLink) => Partial<AccountLink>,
  ): boolean => {
    const found = state.accountLinks.some(which);
    state.accountLinks = state.accountLinks.map((link) => (which(link) ? { ...link, ...to(link) } : link));
    return found;
  };
  const withdrawOpen = (which: (link: AccountLink) => boolean): void =>
    void change(
      (link) => isOpen(link) && which(link),
      () => ({ withdrawnAt: clock.now() }),
    );
  return { named, isOpen, change, withdrawOpen };
}

export function memoryAccountLinks(state: MemoryState, clock: Clock): AccountLinkRepository {
  const { named, isOpen, change, withdrawOpen } = linksOf(state, clock);
  const findOpen = async (codeHash: Buffer): Promise<NamedLink | null> => {
    const hash = codeHash.toString('hex');
    const found = state.accountLinks.find((link) => link.codeHash === hash && isOpen(link));
    return found === undefined ? null : named(found);
  };

  return {
    async insert({ codeHash, purpose, createdBy }, lifeHours) {
      const link = {
        id: randomUUID(),
        purpose,
        createdBy,
        createdAt: clock.now(),
        expiresAt: new Date(clock.now().getTime() + lifeHours * HOUR_MS),
        usedAt: null,
        withdrawnAt: null,
        codeHash: codeHash.toString('hex'),
      };
      state.accountLinks.push(link);
      return named(link);
    },
    findOpen,
    lockOpen: findOpen,
    use: async (id, userId) =>
      change(
        (link) => link.id === id && isOpen(link),
        ({ purpose }) => ({
          usedAt: clock.now(),
          purpose: purpose.kind === 'invitation' ? { ...purpose, madeUserId: userId } : purpose,
        }),
      ),
    withdraw: async (id, kinds) =>
      change(
        (link) => link.id === id && kinds.includes(link.purpose.kind) && link.usedAt === null,
        ({ withdrawnAt }) => ({ withdrawnAt: withdrawnAt ?? clock.now() }),
      ),
    withdrawBy: async (userId) => withdrawOpen((link) => link.createdBy === userId),
    withdrawFor: async (userId) => withdrawOpen((link) => accountOf(link) === userId),
    countOpen: async () => state.accountLinks.filter(isOpen).length,
    lastReset: async (userId) =>
      state.accountLinks
        .filter(({ purpose }) => purpose.kind !== 'invitation' && purpose.userId === userId)
        .reduce<Date | null>(
          (last, { usedAt }) => (usedAt !== null && (last ?? usedAt) <= usedAt ? usedAt : last),
          null,
        ),
    async page(kinds, request) {
      const all = state.accountLinks
        .filter((link) => kinds.includes(link.purpose.kind) && (request.onlyOpen !== true || isOpen(link)))
        .reverse();
      const { items, next } = pageOf(all, request);
      return { items: items.map(named), next };
    },
  };
}

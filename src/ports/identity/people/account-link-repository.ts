import type { AccountLink, LinkKind, LinkPurpose } from '../../../domain/identity/people/account-link.ts';
import type { Page, PageRequest } from '../../pagination.ts';

export type NewAccountLink = {
  readonly codeHash: Buffer;
  readonly purpose: LinkPurpose;
  readonly createdBy: string;
};

/** A link with the names of its creator and of its account, if any; `now` is the time by the database's clock. */
export type NamedLink = {
  readonly link: AccountLink;
  readonly creatorName: string;
  readonly username: string | null;
  readonly now: Date;
};

export type LinkPageRequest = PageRequest & { readonly onlyOpen?: boolean };

/** One-time links of administrators, by the SHA-256 of their codes. */
export interface AccountLinkRepository {
  /** Adds a link, and removes links that ended long ago. */
  insert(link: NewAccountLink, lifeHours: number): Promise<NamedLink>;
  /** The open one of this code. */
  findOpen(codeHash: Buffer): Promise<NamedLink | null>;
  /** The same, locked until the transaction ends. */
  lockOpen(codeHash: Buffer): Promise<NamedLink | null>;
  /** Marks an open one used, by the account that it makes or changes. False when it is no longer open. */
  use(id: string, userId: string): Promise<boolean>;
  /** False when there is no such link of these kinds, or it was used. A second withdrawal changes nothing. */
  withdraw(id: string, kinds: readonly LinkKind[]): Promise<boolean>;
  /** Withdraws the open ones that the user made. */
  withdrawBy(userId: string): Promise<void>;
  /** Withdraws the open ones that change the user's account. */
  withdrawFor(userId: string): Promise<void>;
  countOpen(): Promise<number>;
  /** When a link last set its password, the first one included, or reset its second factor; null when none has lately. */
  lastReset(userId: string): Promise<Date | null>;
  /** Newest first, in any state or only open ones. Throws `UnknownPage`. */
  page(kinds: readonly LinkKind[], request: LinkPageRequest): Promise<Page<NamedLink>>;
}

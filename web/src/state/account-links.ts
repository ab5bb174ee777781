import { linkCode } from '../lib/browser/link-code.ts';

/** The paths of one-time links that administrators make. */
export const INVITE_PATH = '/invite';
export const RESET_PATH = '/reset';

export const accountLinks = { invite: linkCode(INVITE_PATH), reset: linkCode(RESET_PATH) } as const;

export type AccountLinkCode = (typeof accountLinks)[keyof typeof accountLinks];

export function startAccountLinks(): void {
  accountLinks.invite.start();
  accountLinks.reset.start();
}

import { linkCode } from '../lib/browser/link-code.ts';

/** The path of links to shared terminals. */
export const JOIN_PATH = '/join';

export const { start: startInvitations, take: takeInvitation } = linkCode(JOIN_PATH);

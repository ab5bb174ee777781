import type { FieldFaults } from '../field-faults.ts';

export const SEVERITIES = ['info', 'warning'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** An announcement as an administrator writes it. */
export type AnnouncementDraft = {
  /** One line of plain text. */
  readonly text: string;
  readonly severity: Severity;
  readonly startsAt: Date;
  /** null: until it is deleted. */
  readonly endsAt: Date | null;
};

/** A line of an administrator's, for everybody who is signed in. */
export type Announcement = AnnouncementDraft & {
  readonly id: string;
  readonly createdAt: Date;
  /** Of its last change: who dismissed it earlier sees it again. */
  readonly updatedAt: Date;
};

/** In characters. */
export const ANNOUNCEMENT_LENGTH = 500;
/** Stored at the same time, ended ones included. */
export const MAX_ANNOUNCEMENTS = 50;

export type AnnouncementState = 'scheduled' | 'current' | 'ended';

export function announcementState(
  { startsAt, endsAt }: Pick<Announcement, 'startsAt' | 'endsAt'>,
  now: Date,
): AnnouncementState {
  if (endsAt !== null && endsAt <= now) return 'ended';
  return startsAt <= now ? 'current' : 'scheduled';
}

/** Controls and line breaks, and marks that change the direction of the text around them. */
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Faults of a draft, whose text is trimmed. */
export function announcementFaults({ text, startsAt, endsAt }: AnnouncementDraft): FieldFaults {
  const length = [...text].length;
  const faults: Record<string, string> = {};
  if (length === 0) faults['text'] = 'is required';
  else if (length > ANNOUNCEMENT_LENGTH) faults['text'] = `has more than ${ANNOUNCEMENT_LENGTH} characters`;
  else if (FORBIDDEN.test(text)) faults['text'] = 'must be one line of plain text';
  if (endsAt !== null && endsAt <= startsAt) faults['endsAt'] = 'must be after the start';
  return faults;
}

/** Whether a change leaves everything as it is, so that nobody needs to see it again. */
export const isSameDraft = (a: AnnouncementDraft, b: AnnouncementDraft): boolean =>
  a.text === b.text &&
  a.severity === b.severity &&
  a.startsAt.getTime() === b.startsAt.getTime() &&
  a.endsAt?.getTime() === b.endsAt?.getTime();

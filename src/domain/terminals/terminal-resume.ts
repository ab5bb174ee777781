/** Terminal output and input as byte streams with offsets: what a client that comes back is sent, and what is taken from it. */

/**
 * Output that is still there: from `start` up to `end`. Before `exactFrom` an offset may count bytes of a picture that a
 * client was sent in place of output.
 */
export type BufferedRange = { readonly start: number; readonly end: number; readonly exactFrom?: number };

/** `redraw`: what follows does not continue what the client has, so its screen starts afresh. */
export type ResumeFrom = { readonly offset: number; readonly redraw: boolean };

/** Where the output for a client begins that has received `after` bytes of this stream; null: none of it. */
export function resumeFrom({ start, end, exactFrom = 0 }: BufferedRange, after: number | null): ResumeFrom {
  if (after !== null && after >= Math.max(start, exactFrom) && after <= end)
    return { offset: after, redraw: false };
  return { offset: start, redraw: after !== null || end > 0 };
}

/**
 * Where a picture of all output before `end` begins, so that what a client counts goes on with the output behind it; null
 * when it is longer than the output itself.
 */
export const snapshotFrom = (end: number, bytes: number): number | null =>
  bytes <= end ? end - bytes : null;

export type TakenInput = {
  /** Bytes at the front that were taken before. */
  readonly known: number;
  readonly received: number;
  readonly position: number;
};

/** Takes `bytes` of input at `position` of a stream of which `received` are taken: each byte once, and in order. */
export function takeInput(received: number, position: number, bytes: number): TakenInput {
  const end = position + bytes;
  const known = Math.min(bytes, Math.max(0, received - position));
  return { known, received: Math.max(received, end), position: end };
}

/** Whether input may go on at this offset: a gap would lose what is in it. */
export const continuesInput = (received: number, offset: number): boolean => offset <= received;

/**
 * Questions that a terminal answers by itself: attributes, reports, colours, settings. Answered once more, when old
 * output is shown anew, the answers would be typed into the shell.
 */
const QUESTIONS = new RegExp(
  [
    '\\x05',
    '\\x1b\\[[?>=]?[0-9;]*[cn]',
    '\\x1b\\[[?]?[0-9;]*\\$p|\\x1b\\[\\?u|\\x1b\\[>0?q',
    '\\x1b\\[1[1345689]t|\\x1b\\[2[01]t',
    '\\x1b\\](4;[0-9]+|1[0-9]|52;[a-z0-9]*);\\?(\\x07|\\x1b\\\\)',
    '\\x1bP[$+]q[^\\x1b]*\\x1b\\\\',
  ].join('|'),
  'g',
);

/** A copy of old output, as long as it was, in which such questions are filled with NULs, which terminals skip. */
export function withoutQuestions(output: Buffer): Buffer {
  const text = output.toString('latin1');
  return Buffer.from(
    text.replace(QUESTIONS, (found) => '\0'.repeat(found.length)),
    'latin1',
  );
}

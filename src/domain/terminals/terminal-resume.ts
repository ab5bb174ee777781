/**
 * Terminal output and input as byte streams with offsets: what a returning client is sent, and what is accepted from
 * it.
 */

/** Buffered output from `start` to `end`. Offsets before `exactFrom` may count bytes of a screen snapshot. */
export type BufferedRange = { readonly start: number; readonly end: number; readonly exactFrom?: number };

/** `redraw`: the output does not continue the client's, so its screen starts empty. */
export type ResumeFrom = { readonly offset: number; readonly redraw: boolean };

/** The start of the output for a client that has received `after` bytes of this stream; null without a resume. */
export function resumeFrom({ start, end, exactFrom = 0 }: BufferedRange, after: number | null): ResumeFrom {
  if (after !== null && after >= Math.max(start, exactFrom) && after <= end)
    return { offset: after, redraw: false };
  return { offset: start, redraw: after !== null || end > 0 };
}

/**
 * The offset of a screen snapshot of all output before `end`, so that the client's count continues with the output
 * after it; null when the snapshot is longer than that output.
 */
export const snapshotFrom = (end: number, bytes: number): number | null =>
  bytes <= end ? end - bytes : null;

export type TakenInput = {
  /** Bytes at the start that were received before. */
  readonly known: number;
  readonly received: number;
  readonly position: number;
};

/** Accepts `bytes` of input at `position` of a stream with `received` accepted: each byte once and in order. */
export function takeInput(received: number, position: number, bytes: number): TakenInput {
  const end = position + bytes;
  const known = Math.min(bytes, Math.max(0, received - position));
  return { known, received: Math.max(received, end), position: end };
}

/** Whether input may continue at this offset: a gap would lose input. */
export const continuesInput = (received: number, offset: number): boolean => offset <= received;

/**
 * Terminal queries for attributes, reports, colours, settings. Replayed in old output, their answers would be typed
 * into the shell.
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

/** A copy of old output with queries replaced by NULs, which terminals skip; its length is unchanged. */
export function withoutQuestions(output: Buffer): Buffer {
  const text = output.toString('latin1');
  return Buffer.from(
    text.replace(QUESTIONS, (found) => '\0'.repeat(found.length)),
    'latin1',
  );
}

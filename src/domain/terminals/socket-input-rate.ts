/**
 * The input rate of one socket: a burst, then a mebibyte a second. All input is accepted; a client that was too fast is
 * read again later. Negative tokens are input received too early.
 */
export type InputRate = { readonly tokens: number; readonly atMs: number };

const BYTES_PER_MS = 1_048_576 / 1_000;
/** More than a client may have unacknowledged, so that a paste passes at once. */
export const BURST_BYTES = 2_097_152;

export const fullRate = (nowMs: number): InputRate => ({ tokens: BURST_BYTES, atMs: nowMs });

export function takeTokens({ tokens, atMs }: InputRate, bytes: number, nowMs: number): InputRate {
  const refilled = Math.min(BURST_BYTES, tokens + Math.max(0, nowMs - atMs) * BYTES_PER_MS);
  return { tokens: refilled - bytes, atMs: nowMs };
}

/** How long to stop reading. */
export const restMs = ({ tokens }: InputRate): number => Math.ceil(Math.max(0, -tokens) / BYTES_PER_MS);

/**
 * How fast the input of one socket may come: so much at once, and a mebibyte a second for longer. All of it is taken; who
 * was too fast is read again after a while. Tokens below nothing are what came too early.
 */
export type InputRate = { readonly tokens: number; readonly atMs: number };

const BYTES_PER_MS = 1_048_576 / 1_000;
/** More than a client may have under way, so that a paste goes through at once. */
export const BURST_BYTES = 2_097_152;

export const fullRate = (nowMs: number): InputRate => ({ tokens: BURST_BYTES, atMs: nowMs });

/** Takes bytes that have come. */
export function takeTokens({ tokens, atMs }: InputRate, bytes: number, nowMs: number): InputRate {
  const refilled = Math.min(BURST_BYTES, tokens + Math.max(0, nowMs - atMs) * BYTES_PER_MS);
  return { tokens: refilled - bytes, atMs: nowMs };
}

/** For how long nothing more is read. */
export const restMs = ({ tokens }: InputRate): number => Math.ceil(Math.max(0, -tokens) / BYTES_PER_MS);

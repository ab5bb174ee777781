import type { StreamPoint } from './terminal-protocol.ts';

/**
 * Where a terminal was left, for a return from any process. It can be kept as JSON; `input` is what was typed and may
 * not have arrived, so keep it as a secret.
 */
export type TerminalResume = {
  readonly session: string;
  readonly stream: string;
  /** Bytes of output received. */
  readonly after: number;
  readonly inputOffset: number;
  /** In base64. */
  readonly input: string;
};

export const toResume = (session: string, { input, ...point }: StreamPoint): TerminalResume => ({
  session,
  ...point,
  input: btoa(Array.from(input, (byte) => String.fromCharCode(byte)).join('')),
});

/** An offset beyond any stream: the service then sends the screen again. */
const BEYOND = 999_999_999_999_999;

/** `onEmptyScreen`: the earlier output is not shown, so it is sent again as a redraw. */
export const toPoint = (
  { stream, after, inputOffset, input }: TerminalResume,
  onEmptyScreen: boolean,
): StreamPoint => ({
  stream,
  after: onEmptyScreen ? BEYOND : after,
  inputOffset,
  input: Uint8Array.from(atob(input), (char) => char.charCodeAt(0)),
});

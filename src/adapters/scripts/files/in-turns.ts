import type { Release } from '../../../ports/containers/inside/container-programs.ts';

/** The piece of a stream per turn, since a turn costs some 30 microseconds. */
const BYTES_OF_A_TURN = 262_144;

/** Passes a stream on, with a turn per 256 KiB. A slow reader occupies none. */
export async function* inTurns(
  source: AsyncIterable<Buffer>,
  turn: () => Promise<Release>,
  bytesOfATurn = BYTES_OF_A_TURN,
): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  let left = 0;
  try {
    for (;;) {
      const release = left > 0 ? null : await turn();
      if (release !== null) left = bytesOfATurn;
      const piece = await pieces.next().finally(() => release?.());
      if (piece.done) return;
      left -= piece.value.length;
      yield piece.value;
    }
  } finally {
    await pieces.return?.();
  }
}

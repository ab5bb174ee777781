import { type Io, isTerminal } from './io.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const AFTER_MS = 1000;
const EACH_MS = 100;
const CLEAR = '\r\x1b[2K';

/** Shows what takes longer than a second, until it ends; on a terminal only. `words` may change meanwhile. */
export type Progress = <T>(words: string | (() => string), work: Promise<T>) => Promise<T>;

export const progress =
  (io: Io): Progress =>
  async (words, work) => {
    if (!isTerminal(io.err)) return await work;
    const text = typeof words === 'string' ? () => words : words;
    const startedAt = performance.now();
    let shown = false;
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - startedAt;
      if (elapsedMs < AFTER_MS) return;
      shown = true;
      const frame = FRAMES[Math.floor(elapsedMs / EACH_MS) % FRAMES.length];
      io.err.write(`${CLEAR}${frame} ${text()} (${Math.floor(elapsedMs / 1000)} s)`);
    }, EACH_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      if (shown) io.err.write(CLEAR);
    }
  };

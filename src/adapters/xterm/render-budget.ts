import type { Terminal } from '@xterm/headless';

/** Drawing competes with all other work of the service, and programs may write expensive output on purpose. */
const MAX_CELLS = 100_000;
const PATIENCE_MS = 2_000;
const MS_EACH_KIB = 2;
/** The most repetitions of one sequence. */
const MAX_TIMES = 1_000;

/** Sequences with a repeat count; a browser may spend its own time on large ones. */
const REPEATED = [
  ...['b', 'L', 'M', 'S', 'T', 'I', 'Z', '@', 'P', 'X'].map((final) => ({ final })),
  ...['@', 'A'].map((final) => ({ intermediates: ' ', final })),
  ...['}', '~'].map((final) => ({ intermediates: "'", final })),
];

/** Omits sequences with too many repetitions. */
export function limitRepeats({ parser }: Terminal): void {
  for (const id of REPEATED) parser.registerCsiHandler(id, ([times]) => Number(times) > MAX_TIMES);
}

export const isTooLarge = ({ cols, rows }: Terminal): boolean => cols * rows > MAX_CELLS;

/** Measures the cost of drawing. */
export function costMeter() {
  let spentMs = 0;
  let bytes = 0;
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  return {
    /** Draws `size` bytes; false when the total cost is too high. */
    async spend(size: number, draw: () => Promise<void>): Promise<boolean> {
      const before = cpuMs();
      await draw();
      spentMs += cpuMs() - before;
      bytes += size;
      return spentMs <= PATIENCE_MS + (bytes / 1_024) * MS_EACH_KIB;
    },
  };
}

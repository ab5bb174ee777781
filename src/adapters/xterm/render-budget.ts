import type { Terminal } from '@xterm/headless';

/** Output is drawn beside everything else that the service does, and a program may write what is dear on purpose. */
const MAX_CELLS = 100_000;
const PATIENCE_MS = 2_000;
const MS_EACH_KIB = 2;
/** How often one sequence may do something. */
const MAX_TIMES = 1_000;

/** Sequences that are done as often as their number says; a browser may spend its own time on a large one. */
const REPEATED = [
  ...['b', 'L', 'M', 'S', 'T', 'I', 'Z', '@', 'P', 'X'].map((final) => ({ final })),
  ...['@', 'A'].map((final) => ({ intermediates: ' ', final })),
  ...['}', '~'].map((final) => ({ intermediates: "'", final })),
];

/** Leaves out sequences that would repeat something without an end. */
export function limitRepeats({ parser }: Terminal): void {
  for (const id of REPEATED) parser.registerCsiHandler(id, ([times]) => Number(times) > MAX_TIMES);
}

export const isTooLarge = ({ cols, rows }: Terminal): boolean => cols * rows > MAX_CELLS;

/** Counts what drawing costs. */
export function costMeter() {
  let spentMs = 0;
  let bytes = 0;
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  return {
    /** Draws so many bytes; false when all so far has cost too much. */
    async spend(size: number, draw: () => Promise<void>): Promise<boolean> {
      const before = cpuMs();
      await draw();
      spentMs += cpuMs() - before;
      bytes += size;
      return spentMs <= PATIENCE_MS + (bytes / 1_024) * MS_EACH_KIB;
    },
  };
}

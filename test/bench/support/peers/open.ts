/** From the connection's beginning to the first output. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../load.ts';
import type { Row, Side } from '../report/rows.ts';
import { connect, type Way } from './lines.ts';
import type { PeerScene } from './scene.ts';
import { each, takeTurns } from './turns.ts';

const MAIN = 'main';
const LOST_MS = 30_000;
/** Opened in each round. */
const OPENS = 5;
const PAUSE_MS = 100;
/** After each close: no side's next open runs beside what is left of the one before. */
const REST_MS = 300;

type Opened = { readonly plain: number[]; readonly pane: number[]; readonly main: number[] };

export async function openRows({ plain, tmux }: PeerScene, rounds: number): Promise<readonly Row[]> {
  // From now on `main` is there already.
  await firstOutputMs(tmux, MAIN);
  const taken = await takeTurns(Object.keys(plain) as Side[], rounds, async (side): Promise<Opened> => {
    const opened: Opened = { plain: [], pane: [], main: [] };
    for (let n = 0; n < OPENS; n += 1) {
      const way = plain[side];
      if (way !== undefined) opened.plain.push(await firstOutputMs(way, aPane()));
      if (side !== 'berth') continue;
      opened.pane.push(await firstOutputMs(tmux, aPane()));
      opened.main.push(await firstOutputMs(tmux, MAIN));
    }
    return opened;
  });
  const of = (kind: keyof Opened) => each(taken, (all) => median(all.flatMap((opened) => opened[kind])));
  const { base } = of('plain');
  const inTmux = (what: string, kind: 'pane' | 'main', atMost: number): Row => ({
    what: `open to first output in tmux, ${what} (base: a plain shell), ms`,
    values: { ...(base === undefined ? {} : { base }), berth: of(kind).berth ?? Number.NaN },
    digits: 0,
    targets: [{ of: 'base', atMost }],
  });
  return [
    {
      what: 'open to first output, plain shell, ms',
      values: of('plain'),
      digits: 0,
      targets: [
        { of: 'base', atMost: 1.15 },
        { of: 'ttyd', atMost: 0.8 },
      ],
    },
    inTmux('a new pane', 'pane', 1.6),
    inTmux('`main` reopened', 'main', 1.3),
  ];
}

const aPane = (): string => `p${randomUUID()}`;

async function firstOutputMs(way: Way, pane: string): Promise<number> {
  const first = Promise.withResolvers<number>();
  const lost = setTimeout(() => first.reject(new Error(`${way.by} showed nothing`)), LOST_MS);
  const start = performance.now();
  const line = await connect(way, pane, (chunk) => {
    if (chunk.length > 0) first.resolve(performance.now() - start);
  });
  const ms = await first.promise.finally(() => clearTimeout(lost));
  // The shell reads its input by then, and leaves at once.
  await delay(PAUSE_MS);
  await line.close();
  await delay(REST_MS);
  return ms;
}

/** From a keystroke to its echo, one at a time. */

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { quantile } from '../load.ts';
import { startProgram } from '../servers.ts';
import {
  type Box,
  type Figure,
  type Line,
  lineOf,
  type Part,
  type PartOptions,
  promptOf,
  type Scene,
  SIDES,
  type Side,
} from './scene.ts';

const KEYS = 200;
const WARM_UP = 1;
const LOST_MS = 10_000;

export const echo: Part = async (scene, options) => [
  ...(await one(scene, options, 'plain shell')),
  ...(await one(scene, options, 'inside tmux')),
];

async function one(
  scene: Scene,
  { rounds, echoRatio }: PartOptions,
  what: string,
): Promise<readonly Figure[]> {
  const tmux = what === 'inside tmux';
  const box = await scene.box(`echo-${tmux}`, { tmux });
  const lines = { bare: await scene.open('bare', box), berth: await scene.open('berth', box) };
  for (const line of Object.values(lines)) await answerKeys(line);
  const all: Record<Side, number[]> = { bare: [], berth: [] };
  // The median of the rounds' figures leaves out hiccups of the machine.
  const perRound: Record<Side, { p50: number; p99: number }[]> = { bare: [], berth: [] };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const ms = await type(lines[side], KEYS);
      if (round < 0) continue;
      all[side].push(...ms);
      perRound[side].push({ p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) });
    }
  }
  await Promise.all(SIDES.map((side) => lines[side].close()));
  await scene.remove(box);
  const of = (side: Side, share: number): number => quantile(all[side], share);
  const middle = (side: Side, of: 'p50' | 'p99'): number =>
    quantile(
      perRound[side].map((one) => one[of]),
      0.5,
    );
  const ratio = of('berth', 0.5) / of('bare', 0.5);
  const text = (side: Side, share: number, of_: 'p50' | 'p99'): string =>
    `${of(side, share).toFixed(2)} (${middle(side, of_).toFixed(2)})`;
  return [
    {
      what: `${what}: echo p50 ms, of all (of the middle round)`,
      bare: text('bare', 0.5, 'p50'),
      berth: text('berth', 0.5, 'p50'),
      ratio,
      wanted: `at most ${echoRatio}`,
      isMet: ratio <= echoRatio,
    },
    {
      what: `${what}: echo p99 ms`,
      bare: text('bare', 0.99, 'p99'),
      berth: text('berth', 0.99, 'p99'),
      ratio: of('berth', 0.99) / of('bare', 0.99),
      wanted: 'below 10 ms, idle machine',
      isMet: of('berth', 0.99) < 10,
    },
  ];
}

/** From now on input is echoed by a program only. */
export async function answerKeys(line: Line): Promise<void> {
  line.write('stty raw -echo; echo cat-$((40+2)); exec cat\r');
  await line.until('cat-42');
  await delay(100);
}

/** Milliseconds from each key to its echo. */
export async function type(line: Line, keys: number, pauseMs = 4): Promise<number[]> {
  const ms: number[] = [];
  let echoed = (): void => {};
  line.read((chunk) => {
    if (chunk.includes('x')) echoed();
  });
  for (let key = 0; key < keys; key += 1) {
    // Out of step with earlier keys and with other typists.
    await delay(pauseMs * (key === 0 ? Math.random() : 0.5 + Math.random()));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const lost = setTimeout(() => reject(new Error('a keystroke had no echo')), LOST_MS);
    echoed = resolve;
    const start = performance.now();
    line.write('x');
    await promise;
    ms.push(performance.now() - start);
    clearTimeout(lost);
  }
  return ms;
}

// The cost that any process adds to a keystroke: one that only passes bytes on.

export const relay: Part = async (scene, { rounds }) => {
  const box = await scene.box('relay');
  const lines = [await scene.open('bare', box), await relayLine(scene, box)] as const;
  const ms: [number[], number[]] = [[], []];
  for (const line of lines) await answerKeys(line);
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const typed = await type(lines[side], KEYS);
      if (round > 0) ms[side].push(...typed);
    }
  }
  for (const line of lines) await line.close();
  await scene.remove(box);
  const [bare, relayed] = ms.map((each) => quantile(each, 0.5)) as [number, number];
  return [
    {
      what: 'echo p50 ms through a process that only passes bytes on',
      bare: bare.toFixed(2),
      berth: relayed.toFixed(2),
      ratio: relayed / bare,
      wanted: '',
      isMet: true,
    },
  ];
};

async function relayLine(scene: Scene, { runtimeId }: Box): Promise<Line> {
  const args = [scene.endpoint, runtimeId];
  const { ready: port, stop } = await startProgram<number>('terminals/relay-process.ts', args);
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await once(socket, 'open');
  let take = (_chunk: Buffer): void => {};
  socket.on('message', (chunk: Buffer) => take(chunk));
  const line = lineOf({
    write: (text) => socket.send(Buffer.from(text)),
    read: (next) => {
      take = next;
    },
    stopReading: () => socket.pause(),
    async close() {
      socket.terminate();
      await stop();
    },
  });
  return await promptOf(line);
}

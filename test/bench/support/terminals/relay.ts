/** What any process costs a keystroke that lies between: one that passes bytes on and does nothing else. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { WebSocket } from 'ws';
import { quantile } from '../numbers.ts';
import { answerKeys, type } from './echo.ts';
import { type Line, lineOf } from './line.ts';
import type { Part } from './part.ts';
import { type Box, promptOf, type Scene } from './scene.ts';

const KEYS = 200;

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
  const child = fork(path.join(import.meta.dirname, 'relay-process.ts'), [scene.endpoint, runtimeId]);
  const [port] = (await once(child, 'message')) as [number];
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
      const ended = once(child, 'exit');
      socket.terminate();
      await ended;
    },
  });
  return await promptOf(line);
}

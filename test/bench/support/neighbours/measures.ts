/** What a neighbour notices: the echo of a key, a command, a new container. */
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../numbers.ts';
import { answerKeys, type } from '../terminals/echo.ts';
import { type Line, serviceLine } from '../terminals/line.ts';
import { promptOf } from '../terminals/scene.ts';
import { RESOURCES, type Tenant } from './scene.ts';

const KEYS = 60;
const KEY_PAUSE_MS = 20;
const COMMANDS = 7;
const CREATES = 3;
const REFUSED_PAUSE_MS = 1_000;

/** Medians, in milliseconds. */
export type Noticed = { readonly echo: number; readonly exec: number; readonly create: number };
export const MEASURES = ['echo', 'exec', 'create'] as const satisfies readonly (keyof Noticed)[];

export type Watcher = {
  measure(): Promise<Noticed>;
  close(): Promise<void>;
};

export async function watcherOf(neighbour: Tenant): Promise<Watcher> {
  const at = { address: neighbour.address, token: neighbour.token ?? '' };
  const line = await promptOf(await serviceLine(at, neighbour.box, 'bench'));
  await answerKeys(line);
  let made = 0;
  return {
    async measure() {
      const echo = median(await typed(line));
      const exec = median(await times(COMMANDS, () => command(neighbour)));
      const create = median(
        await times(CREATES, () => {
          made += 1;
          return created(neighbour, `made-${made}`);
        }),
      );
      return { echo, exec, create };
    },
    close: () => line.close(),
  };
}

const typed = (line: Line): Promise<number[]> => type(line, KEYS, KEY_PAUSE_MS);

const command = ({ call, box }: Tenant): Promise<number> =>
  timed(() => call('POST', `/api/containers/${box}/exec`, { command: ['true'] }));

/** Until it runs. The delete is not part of the time. */
async function created({ call }: Tenant, name: string): Promise<number> {
  let id = '';
  const ms = await timed(async () => {
    ({ db_id: id } = await call<{ db_id: string }>('POST', '/api/containers', { name, ...RESOURCES }));
    for (;;) {
      const { status } = await call<{ status: string }>('GET', `/api/containers/${id}`);
      if (status !== 'creating' && status !== 'starting') return;
      await delay(100);
    }
  });
  await patiently(() => call('DELETE', `/api/containers/${id}`));
  await patiently(() => call('POST', `/api/containers/${id}/purge`, { name }));
  return ms;
}

/** What is refused for now is tried until it is not. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === 60 || !/answered (409|429|503)/.test(`${error}`)) throw error;
      await delay(REFUSED_PAUSE_MS);
    }
  }
}

async function times(count: number, work: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push(await work());
  return all;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

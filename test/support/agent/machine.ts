import { randomBytes, randomInt } from 'node:crypto';
import type { Test } from 'tap';
import { run, runOrThrow } from '../../../src/adapters/docker/host/host-commands.ts';
import { type Child, runProcess } from '../child.ts';

/** Another machine, as far as the network is concerned. */
export type Machine = {
  /** This machine's address, as seen from there. */
  readonly here: string;
  /** Its own address. */
  readonly there: string;
  /** `ip` in its network. */
  readonly ip: (...args: readonly string[]) => Promise<unknown>;
  /** A program that runs there; killed when the test ends. */
  readonly run: (file: string, args: readonly string[]) => Child;
  /** From now on every packet is dropped, in both directions. Neither side learns of it. */
  readonly cut: () => Promise<void>;
  readonly restore: () => Promise<void>;
};

const RULES = ['INPUT', 'OUTPUT'];

/** A network namespace with a line to this one. Needs root. */
export async function aMachine(t: Test): Promise<Machine> {
  const id = randomBytes(3).toString('hex');
  const [space, link, far] = [`berth-m${id}`, `bm${id}`, `bn${id}`];
  // concurrent runs on this machine use others
  const block = `172.30.${randomInt(256)}.${randomInt(64) * 4}`;
  const [here, there] = [1, 2].map((n) => block.replace(/\d+$/, (last) => `${Number(last) + n}`));
  t.teardown(async () => {
    await run('ip', ['link', 'delete', link]);
    await run('ip', ['netns', 'delete', space]);
  });
  const ip = (...args: string[]): Promise<unknown> => runOrThrow('ip', args);
  const ipThere = (...args: readonly string[]): Promise<unknown> => ip('-n', space, ...args);
  const rules = (change: string) => async (): Promise<void> => {
    for (const rule of RULES) await ip('netns', 'exec', space, 'iptables', '-w', change, rule, '-j', 'DROP');
  };
  await ip('netns', 'add', space);
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', far, 'netns', space);
  await ip('address', 'add', `${here}/30`, 'dev', link);
  await ip('link', 'set', link, 'up');
  await ipThere('address', 'add', `${there}/30`, 'dev', far);
  await ipThere('link', 'set', far, 'up');
  await ipThere('link', 'set', 'lo', 'up');
  return {
    here: here as string,
    there: there as string,
    ip: ipThere,
    run: (file, args) => runProcess(t, 'ip', ['netns', 'exec', space, file, ...args]),
    cut: rules('-A'),
    restore: rules('-D'),
  };
}

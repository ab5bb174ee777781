/**
 * The attacker's client, in its own process. It would run on another machine, so it has the lowest priority here.
 * Argument: the attack's name. The first message has the account, the second ends the attack.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { client } from '../load.ts';
import { ATTACKS, type End } from './attacks.ts';
import type { Tenant } from './scene.ts';

type Account = Pick<Tenant, 'address' | 'token' | 'box'>;

/** Begins the attack of this name, and resolves when it is set up. */
export async function attackOf(name: string, { address, token, box }: Tenant): Promise<End> {
  const child = fork(import.meta.filename, [name], { execArgv: process.execArgv });
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
  await answerOf(child, { address, token, box } satisfies Account);
  return async () => {
    await answerOf(child, 'end');
    child.disconnect();
  };
}

async function answerOf(child: ChildProcess, message: object | string): Promise<void> {
  const answer = once(child, 'message');
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the attacker ended')));
  ended.catch(() => undefined);
  child.send(message);
  await Promise.race([answer, ended]);
}

async function serve(name: string): Promise<void> {
  const [account] = (await once(process, 'message')) as [Account];
  const attack = ATTACKS[name];
  if (attack === undefined) throw new Error(`no attack ${name}`);
  const end = await attack({ ...account, ...client(account.address, account.token) });
  const asked = once(process, 'message');
  process.send?.('begun');
  await asked;
  await end();
  process.send?.('over');
}

if (process.send !== undefined && process.argv[2] !== undefined) await serve(process.argv[2]);

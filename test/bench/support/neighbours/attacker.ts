import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { client } from '../load.ts';
import { startProgram } from '../servers.ts';
import { ATTACKS, type End } from './attacks.ts';
import type { Tenant } from './scene.ts';

/**
 * The attacker's client, in its own process. It would run on another machine, so it has the lowest priority here.
 * Arguments: the attack's name and the account. A message ends the attack.
 */

type Account = Pick<Tenant, 'address' | 'token' | 'box'>;

/** Begins the attack of this name, and resolves when it is set up. */
export async function attackOf(name: string, { address, token, box }: Tenant): Promise<End> {
  const account: Account = { address, token, box };
  const args = [name, JSON.stringify(account)];
  const { ask, stop } = await startProgram('neighbours/attacker.ts', args, process.execArgv);
  return async () => await ask<void>('end').finally(stop);
}

async function serve(name: string, account: Account): Promise<void> {
  setPriority(constants.priority.PRIORITY_LOW);
  const attack = ATTACKS[name];
  if (attack === undefined) throw new Error(`no attack ${name}`);
  const end = await attack({ ...account, ...client(account.address, account.token) });
  const asked = once(process, 'message');
  process.send?.('begun');
  await asked;
  await end();
  process.send?.('over');
}

const [name, account] = process.argv.slice(2);
if (process.send !== undefined && account !== undefined) await serve(name ?? '', JSON.parse(account));

import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { ask, type Parts } from '../run/infra.ts';
import { needs } from '../run/needs.ts';
import { client } from './running-service.ts';

export type SharedService = Parts['service'] & {
  /** All that it printed so far. */
  readonly output: () => string;
  /** Requests of its administrator. */
  readonly admin: ReturnType<typeof client>;
};

/**
 * The service of this run, which other tests use at the same time: a test registers users of its own and leaves the
 * settings alone. A test file during which it ends fails. Null when the test was skipped because this machine has no engine.
 */
export async function sharedService(t: Test): Promise<SharedService | null> {
  for (const need of ['postgres', 'engine'] as const) if ((await needs(t, need)) === null) return null;
  const answer = await ask('service');
  if (!answer.ok) throw new Error(answer.reason);
  const { address, adminToken, log, pid } = answer.value;
  const output = (): string => readFileSync(log, 'utf8');
  t.teardown(() => {
    if (isAlive(pid)) return;
    console.error(`the service of the run ended during "${t.name}":\n${output().slice(-2_000)}`);
    // The test itself is over: the file fails.
    process.exitCode = 1;
  });
  return { ...answer.value, output, admin: client(address, adminToken) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export type Member = {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  /** The refresh token of the same session. */
  readonly refreshToken: string;
};

let made = 0;

/** Someone new, signed in. No other test of the run has a user of that name. */
export async function register(
  { address, admin }: Pick<SharedService, 'address' | 'admin'>,
  { name = 'ada', role = 'user' }: { readonly name?: string; readonly role?: 'user' | 'admin' } = {},
): Promise<Member> {
  made += 1;
  const username = `${name}-${process.pid}-${made}`;
  const person = { email: `${username}@example.org`, username, password: 'correct horse battery' };
  const answer = await fetch(`${address}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  });
  const body = (await answer.json()) as { token: string; user: { id: string } };
  if (answer.status !== 201) throw new Error(`registering answered ${JSON.stringify(body)}`);
  const refreshToken = /berth_refresh=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const { id } = body.user;
  if (role === 'admin') await admin('PATCH', `/api/admin/users/${id}`, { role });
  return { ...person, id, token: body.token, refreshToken };
}

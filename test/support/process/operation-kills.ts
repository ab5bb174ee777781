import type { Test } from 'tap';
import { eventually, waitFor } from '../patience.ts';
import {
  aContainerWithCanary,
  type Call,
  inside,
  type KillChain,
  killChainOf,
  readCanary,
  small,
} from './fault-scene.ts';

/** An operation in whose midst Berth is killed, from the state that it needs, and the states it may end in. */
type Case = {
  readonly needs: 'running' | 'stopped' | 'deleted';
  readonly request: (call: Call, url: string, n: number) => Promise<unknown>;
  readonly steps: readonly string[];
  readonly ends: 'running' | 'stopped' | 'deleted';
};

const CASES = {
  start: {
    needs: 'stopped',
    request: (call, url) => call('POST', `${url}/start`),
    steps: ['start_old', 'commit'],
    ends: 'running',
  },
  stop: {
    needs: 'running',
    request: (call, url) => call('POST', `${url}/stop`),
    steps: ['stop_old', 'commit'],
    ends: 'stopped',
  },
  delete: {
    needs: 'running',
    request: (call, url) => call('DELETE', url),
    steps: ['remove_old', 'commit'],
    ends: 'deleted',
  },
  restore: {
    needs: 'deleted',
    request: (call, url) => call('POST', `${url}/restore`),
    steps: ['create_fresh', 'commit'],
    ends: 'stopped',
  },
  update: {
    needs: 'running',
    request: (call, url, n) =>
      call('PATCH', url, { name: `update-${n}`, ...small, memory_mb: small.memory_mb + 1 + n }),
    steps: ['create_fresh', 'stop_old', 'start_fresh', 'commit', 'remove_old'],
    ends: 'running',
  },
} satisfies Record<string, Case>;

const CREATE_STEPS = ['create_fresh', 'start_fresh', 'commit'];
const pointsOf = (kind: string, steps: readonly string[]): readonly string[] =>
  steps.flatMap((step) => [`${kind} before ${step}`, `${kind} after ${step}`]);

const OPERATIONS = Object.entries<Case>(CASES);
/** Enough for each point of most operations; with `FAULTS=all` for each of all. */
const DEATHS =
  process.env['FAULTS'] === 'all'
    ? Math.max(2 * CREATE_STEPS.length, ...OPERATIONS.map(([, { steps }]) => 2 * steps.length))
    : 4;

async function bring(call: Call, url: string, to: Case['needs'], patienceMs: number): Promise<void> {
  const state = async (): Promise<unknown> => (await call('GET', url)).body['status'] ?? 'deleted';
  const step = async (): Promise<unknown> => {
    const is = await state();
    if (is === to) return is;
    if (to === 'deleted') await call('DELETE', url);
    else if (is === 'deleted') await call('POST', `${url}/restore`);
    else await call('POST', `${url}/${to === 'running' ? 'start' : 'stop'}`);
    return await state();
  };
  const is = await eventually(step, (now) => now === to, { patienceMs, everyMs: 500 });
  if (is !== to) throw new Error(`${url} is ${is}, not ${to}`);
}

type Dying = {
  readonly chain: KillChain;
  readonly rows: Readonly<Record<string, string>>;
  readonly patienceMs: number;
};

/** Kills Berth while each operation is at a point of its own and a command runs, and checks what the next one makes of it. */
async function dieOnce(t: Test, { chain, rows, patienceMs }: Dying, n: number): Promise<void> {
  const at = (kind: string, steps: readonly string[]): string =>
    pointsOf(kind, steps)[n % (2 * steps.length)] ?? '';
  const urlOf = (kind: string): string => `/api/containers/${rows[kind]}`;
  const before = await chain.call();
  await Promise.all(OPERATIONS.map(([kind, { needs }]) => bring(before, urlOf(kind), needs, patienceMs)));
  const points = [at('create', CREATE_STEPS), ...OPERATIONS.map(([kind, { steps }]) => at(kind, steps))];
  const script = `touch /workspace/begun-${n}; sleep 600`;
  const after = await chain.dieAt(t, points, async (call) => {
    void inside(call, rows['exec'] ?? '', script).catch(() => undefined);
    const isBegun = async () =>
      `${await inside(call, rows['exec'] ?? '', 'ls /workspace')}`.includes(`begun-${n}`);
    await waitFor(isBegun, {
      what: 'the command runs',
      everyMs: 200,
    });
    await Promise.allSettled([
      call('POST', '/api/containers', { name: `made-${n}`, ...small }),
      ...OPERATIONS.map(([kind, { request }]) => request(call, urlOf(kind), n)),
    ]);
  });
  t.same(await chain.invariants.violations(), [], 'the invariants hold');
  for (const [kind, { ends }] of OPERATIONS)
    t.equal(
      (await chain.invariants.row(rows[kind] ?? '')).state,
      ends,
      at(kind, CASES[kind as 'stop'].steps),
    );
  const { containers } = (await after('GET', '/api/containers')).body as {
    containers: readonly { readonly db_id: string; readonly name: string; readonly status: string }[];
  };
  const made = containers.find(({ name }) => name === `made-${n}`);
  t.equal(made?.status, 'running', at('create', CREATE_STEPS));
  await after('DELETE', `/api/containers/${made?.db_id}`);
  t.match(await inside(after, rows['exec'] ?? '', 'ls /workspace'), new RegExp(`begun-${n}`), 'exec');
  for (const kind of Object.keys(rows)) {
    await bring(after, urlOf(kind), 'running', patienceMs);
    t.equal(await readCanary(after, rows[kind] ?? ''), 'kept\n', `the volume of ${kind} is intact`);
  }
}

const DEATH_MS = 600_000;

/**
 * Kills an installation's Berth in the midst of every operation, again and again, on any engine. `patienceMs`: for one
 * operation. Returns the number of kills.
 */
export async function killInEveryOperation(
  t: Test,
  set: Parameters<typeof killChainOf>[1],
  { engine, patienceMs }: { readonly engine: Parameters<typeof killChainOf>[2]; readonly patienceMs: number },
): Promise<number> {
  const chain = killChainOf(t, set, engine, patienceMs);
  const call = await chain.call();
  const rows: Record<string, string> = {};
  for (const kind of ['exec', ...Object.keys(CASES)])
    rows[kind] = (await aContainerWithCanary(call, kind)).dbId;
  for (let n = 0; n < DEATHS; n += 1)
    await t.test(`death ${n}`, { timeout: DEATH_MS }, (t) => dieOnce(t, { chain, rows, patienceMs }, n));
  const last = await chain.call();
  for (const dbId of Object.values(rows)) await last('DELETE', `/api/containers/${dbId}`);
  return DEATHS;
}

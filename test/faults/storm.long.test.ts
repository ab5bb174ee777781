import { randomBytes } from 'node:crypto';
// biome-ignore lint/style/noRestrictedImports: load at a chosen pace
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { engineOrSkip } from '../support/engine/engine.ts';
import { Invariants } from '../support/process/invariants.ts';
import { anInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';

const CLIENTS = 20;
const SECONDS = Number(process.env['STORM_SECONDS'] ?? 30);
const small = { memory_mb: 256, cpu_shares: 500, disk_mb: 512 };

type Call = ReturnType<typeof client>;

/** The answers that each request may get at any time. */
const LEGAL: Readonly<Record<string, readonly number[]>> = {
  start: [200, 404, 409],
  stop: [200, 404, 409],
  patch: [200, 400, 404, 409],
  delete: [200, 404, 409],
  restore: [200, 404, 409],
};

async function act(call: Call, what: string, id: string, n: number): Promise<number> {
  const path = `/api/containers/${id}`;
  switch (what) {
    case 'patch':
      return (await call('PATCH', path, { name: `c${n}`, ...small, memory_mb: 256 + (n % 4) * 64 })).status;
    case 'delete':
      return (await call('DELETE', path)).status;
    default:
      return (await call('POST', `${path}/${what}`)).status;
  }
}

t.setTimeout((SECONDS + 240) * 1000);
t.test(
  `${SECONDS} s of random requests from ${CLIENTS} clients on two replicas leave everything in order`,
  async (t) => {
    const engine = await engineOrSkip(t);
    const url = await freshDatabase(t);
    if (engine === null || url === null) return;
    const shared = { DATABASE_URL: url, BERTH_JWT_SECRET: randomBytes(48).toString('base64') };
    const places = [await anInstallation(t, shared), await anInstallation(t, shared)];
    if (!places[0] || !places[1]) return;
    const a = await startService(t, places[0]);
    const token = await signInAdmin(a);
    const b = await startService(t, places[1]);
    await client(a.address, token)('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
    const calls = [client(a.address, token), client(b.address, token)];
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const made = await calls[i % 2]?.('POST', '/api/containers', { name: `c${i}`, ...small });
      t.equal(made?.status, 201);
      ids.push(made?.body['db_id'] as string);
    }

    const strange: string[] = [];
    let done = 0;
    const end = Date.now() + SECONDS * 1000;
    const seed = Date.now() % 1_000_000;
    t.comment(`seed ${seed}`);
    const script = fc.sample(
      fc.tuple(fc.constantFrom(...Object.keys(LEGAL)), fc.nat(ids.length - 1), fc.nat(1), fc.nat(50)),
      { seed, numRuns: 4_000 },
    );
    const work = async (lane: number): Promise<void> => {
      for (let i = lane; Date.now() < end; i += CLIENTS) {
        const [what, which, replica, pauseMs] = script[i % script.length] ?? ['start', 0, 0, 0];
        const status = await act(calls[replica] as Call, what, ids[which] ?? '', which);
        if (!LEGAL[what]?.includes(status)) strange.push(`${what} answered ${status}`);
        done += 1;
        await sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, lane) => work(lane)));
    t.ok(done > CLIENTS, `${done} requests`);
    const errors = [a, b].flatMap((replica) => replica.output().match(/^.*"level":50.*$/gm) ?? []);
    t.same(strange, [], 'only legal answers', { errors: errors.join('\n').slice(-20_000) });

    const invariants = new Invariants(url, engine.docker);
    await invariants.settled();
    t.same(await invariants.violations(), []);
    await invariants.close();
  },
);

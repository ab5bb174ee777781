/**
 * What processes hold and cost: transactions of an idle installation and of pages that are open, sign-ins, requests to one
 * process and to two behind nginx, and terminals spread over both. Everything is on loopback, and ends by itself.
 * Arguments: parts (`database`, `requests`, `terminals`), all unless named, `seconds=20` for each look at the database, `load=5`,
 * `pages=60`, `panes=20`.
 */
import { randomUUID } from 'node:crypto';
import { given, namedSections } from './support/arguments.ts';
import { client, load, loader, quantile } from './support/load.ts';
import { counted } from './support/processor-time.ts';
import { say } from './support/say.ts';
import { aScene, nginxVersion, openPages, type Scene, startNginx } from './support/scaling/scene.ts';
import { answerKeys, type } from './support/terminals/echo.ts';
import { type Line, serviceLine } from './support/terminals/scene.ts';
import type { WholeService } from './support/whole-service.ts';

const SECONDS = given('seconds', 20);
const LOAD_SECONDS = given('load', 5);
const PAGES = given('pages', 60);
const PANES = given('panes', 20);
const SIGN_INS_AT_ONCE = 4;
const CONNECTIONS = 32;
const KEYS = 40;
const PAUSE_MS = 100;

const parts = namedSections(['database', 'requests', 'terminals']);
const scene = await aScene();
try {
  if (parts.includes('database')) await idleAndPages(scene);
  const second = await scene.second();
  if (parts.includes('database'))
    say(`two processes, idle: ${(await scene.work.perSecond(SECONDS)).toFixed(1)} transactions a second`);
  if (parts.includes('requests')) await requests(scene, second);
  if (parts.includes('terminals')) await terminals(scene, second);
} finally {
  await scene.stop();
}

async function idleAndPages({ first, work }: Scene): Promise<void> {
  const pids = [first.pid];
  const [idle, idleMs] = await counted(pids, () => work.perSecond(SECONDS));
  say(
    `one process, idle: ${idle.toFixed(1)} transactions and ${perSecond(idleMs, SECONDS)} ms of processor a second`,
  );
  const [tokens, signInMs] = await counted(pids, () => signIns(first.address, PAGES));
  say(`sign-ins: ${(signInMs / PAGES).toFixed(0)} ms of processor each`);
  const none = await work.perSecond(SECONDS);
  const pages = await openPages(first.address, tokens);
  const [busy, busyMs] = await counted(pids, () => work.perSecond(SECONDS * 2));
  const each = (busy - none) / tokens.length;
  say(
    `${tokens.length} pages open: ${busy.toFixed(1)} transactions a second, ${none.toFixed(1)} without: ` +
      `${each.toFixed(3)} each; ${perSecond(busyMs, SECONDS * 2)} ms of processor a second`,
  );
  pages.close();
}

function perSecond(ms: number, seconds: number): string {
  return (ms / seconds).toFixed(1);
}

/** Sessions of one user, created as fast as possible. */
async function signIns(address: string, count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  const took: number[] = [];
  const person = { email: 'root@example.org', password: 'correct horse battery' };
  const begun = performance.now();
  let left = count;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      const answer = client(address, null).call<{ token: string }>('POST', '/api/auth/login', person);
      tokens.push((await answer).token);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: SIGN_INS_AT_ONCE }, work));
  const rate = count / ((performance.now() - begun) / 1000);
  const p50 = quantile(took, 0.5).toFixed(0);
  say(`sign-ins: ${rate.toFixed(1)} a second, ${SIGN_INS_AT_ONCE} at once, p50 ${p50} ms`);
  return tokens;
}

async function requests(
  { admin, first, proxy, proxyPort, work }: Scene,
  second: WholeService,
): Promise<void> {
  const { token } = await admin.call<{ token: string }>('POST', '/api/tokens', { name: 'bench' });
  const headers = { authorization: `Bearer ${token}` };
  const pids = [first.pid, second.pid];
  const measure = async (name: string, address: string): Promise<void> => {
    for (const path of ['/api/tokens/validate', '/api/containers']) {
      const options = { url: `${address}${path}`, headers, connections: CONNECTIONS };
      await load({ ...options, seconds: 1 });
      const before = await work.total();
      const [loaded, ms] = await counted(pids, () => load({ ...options, seconds: LOAD_SECONDS }));
      const count = loaded.requestsPerSecond * LOAD_SECONDS;
      const asked = ((await work.total()) - before) / count;
      say(
        `${name}: GET ${path}: ${loaded.requestsPerSecond.toFixed(0)} a second, p99 ${loaded.p99Ms.toFixed(1)} ms, ` +
          `${((ms / count) * 1000).toFixed(0)} us of processor and ${asked.toFixed(2)} transactions each`,
      );
    }
  };
  console.log(`${loader}, ${CONNECTIONS} connections`);
  await measure('one process', first.address);
  const version = nginxVersion();
  if (version === null) return console.log('nginx is not installed: not measured behind it');
  console.log(version);
  const both = [first.address, second.address];
  for (const upstreams of [both.slice(0, 1), both]) {
    const nginx = await startNginx(proxyPort, upstreams);
    await measure(`behind nginx, processes: ${upstreams.length}`, proxy).finally(nginx.stop);
  }
}

async function terminals({ admin, first, proxy, proxyPort }: Scene, second: WholeService): Promise<void> {
  const resources = { memory_mb: 1024, cpu_shares: 2000, disk_mb: 512 };
  const box = await admin.call<{ db_id: string }>('POST', '/api/containers', { name: 'panes', ...resources });
  await panes(admin, 'one process', first.address, box.db_id);
  if (nginxVersion() === null) return;
  const nginx = await startNginx(proxyPort, [first.address, second.address]);
  await panes(admin, 'two processes behind nginx', proxy, box.db_id).finally(nginx.stop);
}

async function panes(admin: Scene['admin'], name: string, address: string, dbId: string): Promise<void> {
  const lines: Line[] = [];
  const begun = performance.now();
  for (let n = 0; n < PANES; n += 1) {
    // A connection id of its own: one just closed may still exist.
    lines.push(await serviceLine({ address, token: admin.token ?? '' }, dbId, `p${randomUUID()}`));
  }
  const openMs = (performance.now() - begun) / PANES;
  for (const line of lines) await answerKeys(line);
  type Listed = { terminals: { replica: string }[] };
  const listed = (await admin.call<Listed>('GET', '/api/admin/terminals')).terminals;
  const at = Object.values(Object.groupBy(listed, ({ replica }) => replica)).map((all) => all?.length);
  const ms = (await Promise.all(lines.map((line) => type(line, KEYS, PAUSE_MS)))).flat();
  say(
    `${name}: ${PANES} terminals (${at.join(' + ')}), ${openMs.toFixed(0)} ms to open one; all type: echo p50 ` +
      `${quantile(ms, 0.5).toFixed(1)} ms, p99 ${quantile(ms, 0.99).toFixed(1)} ms`,
  );
  await Promise.all(lines.map((line) => line.close()));
}

import pino from 'pino';
import t, { type Test } from 'tap';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { redisBus } from '../../../src/adapters/redis/bus.ts';
import { signedBatches } from '../../../src/adapters/redis/signed-batches.ts';
import { type BusPair, busContract } from '../../contract/bus.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.ts';
import { needs } from '../../support/run/infra.ts';
import { anApiToken, aPerson, aService, as } from '../../support/service/service.ts';

const PASSWORD = 'p@ss/word';
const silent = pino({ level: 'silent' });
const key = (fill: number): Buffer => Buffer.alloc(32, fill);
const ONE = { installationId: 'one', keys: () => [key(1)] };

/** Its address for a user of this name with the password. */
const urlOf = ({ url }: RedisServer, user: string): string =>
  url.replace('redis://', `redis://${user}:${encodeURIComponent(PASSWORD)}@`);

/** The rights that the docs name. */
const RIGHTS = ['resetchannels', '&berth:one', '+hello', '+ping', '+publish', '+subscribe'];

/** Two processes, of which `there` has a user of its own. */
async function openPair(t: Test, redis: RedisServer): Promise<BusPair> {
  await redis.command('ACL', 'SETUSER', 'there', 'on', `>${PASSWORD}`, ...RIGHTS);
  const here = redisBus(redis.url, ONE, silent);
  const there = redisBus(urlOf(redis, 'there'), ONE, silent);
  t.teardown(() => Promise.all([here.close(), there.close()]));
  await waitFor(() => here.connected && there.connected);
  return {
    here,
    there,
    cut: async () => {
      await redis.command('ACL', 'SETUSER', 'there', 'off');
      await redis.command('CLIENT', 'KILL', 'USER', 'there');
    },
    restore: async () => void (await redis.command('ACL', 'SETUSER', 'there', 'on')),
  };
}

const redis = await aRedis(t);
if (redis !== null) {
  const pair = await openPair(t, redis);
  busContract(t, async () => pair);
  t.test('installations on one Redis do not hear each other', (t) => apart(t, redis, pair));
  t.test('what strangers send on the channel is ignored', (t) => foreign(t, redis, pair));
  t.test('a right that is missing is logged, and no password', (t) => unauthorized(t, redis));
  t.test('a Redis that falls silent is noticed, and its return is a gap', (t) => silence(t, redis, pair));
}
t.test('without its Redis no request fails, and a revocation still counts at once', withoutRedis);

async function aRedis(t: Test): Promise<RedisServer | null> {
  const part = await needs(t, 'redis');
  if (part === null) return null;
  const server = await startRedis(part.program, aFolder(t));
  t.teardown(server.stop);
  return server;
}

/** The numbers that a process has received on a topic. */
function numbers(bus: BusPair['here'], topic: string): readonly unknown[] {
  const log: unknown[] = [];
  bus.subscribe(
    topic,
    ({ n }) => log.push(n),
    () => undefined,
  );
  return log;
}

async function apart(t: Test, redis: RedisServer, { here, there }: BusPair): Promise<void> {
  const other = redisBus(redis.url, { ...ONE, installationId: 'two' }, silent);
  t.teardown(() => other.close());
  await waitFor(() => other.connected);
  const heard = numbers(there, 'apart');
  other.publish('apart', { n: 1 });
  // It is sent before `close` resolves.
  await other.close();
  here.publish('apart', { n: 2 });
  await waitFor(() => heard.length > 0);
  t.same(heard, [2]);
}

async function foreign(t: Test, redis: RedisServer, { here, there }: BusPair): Promise<void> {
  const heard = numbers(there, 'foreign');
  const forged = [JSON.stringify({ from: 'x', topic: 'foreign', message: { n: 0 } })];
  for (const text of [
    ...['', '{', 'null', JSON.stringify(forged), `${'A'.repeat(43)}${JSON.stringify(forged)}`],
    `${'ä'.repeat(43)}${JSON.stringify(forged)}`,
    signedBatches('berth:one', () => [key(2)]).write(forged),
    signedBatches('berth:two', ONE.keys).write(forged),
    ...['{', 'null'].map((each) => signedBatches('berth:one', ONE.keys).write([each])),
  ])
    await redis.command('PUBLISH', 'berth:one', text);
  here.publish('foreign', { n: 1 });
  await waitFor(() => heard.length > 0);
  t.same(heard, [1]);
  t.ok(there.connected);
}

async function unauthorized(t: Test, redis: RedisServer): Promise<void> {
  await redis.command('ACL', 'SETUSER', 'mute', 'on', `>${PASSWORD}`, ...RIGHTS, '-publish');
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  for (const url of [urlOf(redis, 'mute'), urlOf(redis, 'nobody')]) {
    lines.length = 0;
    const bus = redisBus(url, ONE, log);
    await waitFor(() => lines.length > 0);
    t.match(lines[0], /NOPERM|WRONGPASS/);
    t.notMatch(lines.join(''), /p@ss|p%40ss/);
    t.notOk(bus.connected);
    await bus.close();
  }
}

async function silence(t: Test, { pid }: RedisServer, { here, there }: BusPair): Promise<void> {
  const log: unknown[] = [];
  there.subscribe(
    'silence',
    ({ n }) => log.push(n),
    () => log.push('gap'),
  );
  process.kill(pid, 'SIGSTOP');
  here.publish('silence', { n: 1 });
  await waitFor(() => !here.connected && !there.connected, { what: 'both notice' });
  process.kill(pid, 'SIGCONT');
  await waitFor(() => here.connected && there.connected, { what: 'both return' });
  t.equal(log[0], 'gap');
  here.publish('silence', { n: 2 });
  await waitFor(() => log.at(-1) === 2);
}

async function withoutRedis(t: Test): Promise<void> {
  const storage = memoryStorage(fixedClock());
  // Nothing listens there. Their clock stands still, so that what they remember does not grow old.
  const aProcess = async () => {
    const bus = redisBus('redis://127.0.0.1:1', ONE, silent);
    t.teardown(() => bus.close());
    return await aService({ storage, bus, monotonicMs: () => 0 });
  };
  const [here, there] = [await aProcess(), await aProcess()];
  const ada = await aPerson(here, 'ada');
  const token = await anApiToken(here, ada);
  const status = async () => (await as(there, token)('GET', '/api/me')).statusCode;
  t.equal(await status(), 200);
  const revoked = await as(here, ada)('POST', `/api/tokens/${token.id}/revoke`);
  t.equal(revoked.statusCode, 200);
  t.equal(await status(), 401);
}

t.test('a batch is signed by the first key, and any verifies it, on its channel alone', (t) => {
  const of = (channel: string, ...keys: readonly Buffer[]) => signedBatches(channel, () => keys);
  const text = of('a', key(1), key(2)).write(['x', 'y']);
  t.same(of('a', key(1)).read(text), ['x', 'y']);
  t.same(of('a', key(3), key(1)).read(text), ['x', 'y']);
  t.equal(of('a', key(2)).read(text), null);
  t.equal(of('b', key(1)).read(text), null);
  t.equal(of('a', key(1)).read(text.replace('x', 'z')), null);
  t.equal(of('a').read(text), null);
  t.end();
});

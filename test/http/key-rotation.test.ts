import t from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { type Keys, keysFrom } from '../../src/app/main/keys.ts';
import { anAdmin, aService, as, type Person, person } from '../support/service.ts';

const [old, fresh] = [Buffer.alloc(48, 1), Buffer.alloc(48, 2)];

/** Replicas of one installation: the same rows, keys of their own. */
function aCluster() {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  return (keys: Keys) => aService({ storage, clock }, { keys });
}
type Replica = Awaited<ReturnType<ReturnType<typeof aCluster>>>;

const statusOn = async (replica: Replica, who: Person): Promise<number> =>
  (await as(replica, who)('GET', '/api/me')).statusCode;

const refresh = (replica: Replica, cookie: string) =>
  replica.http.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    cookies: { berth_refresh: cookie },
  });

t.test('keys are rotated by rolling restarts without one refused request', async (t) => {
  const replica = aCluster();
  const replicas = await Promise.all([1, 2, 3].map(() => replica(keysFrom(old))));
  const [first] = replicas;
  if (first === undefined) return;
  const root = await anAdmin(first);
  const tokens: Person[] = [root];

  /** Signs in everywhere, and shows every token to every replica. */
  async function askEverybody(step: string): Promise<void> {
    for (const one of replicas) {
      const { email, password } = person('root');
      const answer = await as(one, null)('POST', '/api/auth/login', { email, password });
      tokens.push({ ...root, token: answer.json().token });
    }
    const statuses = await Promise.all(
      replicas.flatMap((one) => tokens.map((token) => statusOn(one, token))),
    );
    t.same([...new Set(statuses)], [200], step);
  }

  await askEverybody('before');
  for (const secrets of [
    [old, fresh],
    [fresh, old],
  ]) {
    for (const at of replicas.keys()) {
      replicas[at] = await replica(keysFrom(...secrets));
      await askEverybody(
        `replica ${at}, ${secrets[0] === old ? 'the new key verifies' : 'the new key signs'}`,
      );
    }
  }
  // A quarter of an hour later the tokens of the old key have expired.
  tokens.splice(0, tokens.length - 1);
  for (const at of replicas.keys()) {
    replicas[at] = await replica(keysFrom(fresh));
    await askEverybody(`replica ${at}, the old key is gone`);
  }
  t.equal(await statusOn(replicas[0] as Replica, root), 401, 'and so are its tokens');
});

t.test('a refresh whose answer was lost finds its successor across a rotation', async (t) => {
  const replica = aCluster();
  const before = await replica(keysFrom(old));
  const { cookie } = await anAdmin(before);
  const successor = (await refresh(before, cookie)).cookies[0]?.value ?? '';
  const after = await replica(keysFrom(fresh, old));
  const repeated = await refresh(after, cookie);
  t.equal(repeated.statusCode, 200);
  t.equal(repeated.cookies[0]?.value, successor);
  t.equal((await refresh(after, successor)).statusCode, 200, 'which goes on');
});

t.test('when the key of the successor is gone, the repeat is refused and the session lives', async (t) => {
  const replica = aCluster();
  const before = await replica(keysFrom(old));
  const { cookie } = await anAdmin(before);
  const successor = (await refresh(before, cookie)).cookies[0]?.value ?? '';
  const after = await replica(keysFrom(fresh));
  t.equal((await refresh(after, cookie)).statusCode, 401);
  t.equal((await refresh(after, successor)).statusCode, 200);
});

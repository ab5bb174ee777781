import t, { type Test } from 'tap';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { aPerson, aService, as } from '../support/service/service.ts';

const FILES = 60_000;
const TIMES = 40;
const LIMITS = { memory_mb: 512, cpu_shares: 1000, disk_mb: 512 };

/** Empty files in a hundred folders outside the volume. */
const FILL = `mkdir /opt/many && cd /opt/many && folder=0
while [ $folder -lt 100 ]; do
  mkdir $folder; file=0
  while [ $file -lt ${FILES / 100} ]; do : > $folder/$file; file=$((file + 1)); done
  folder=$((folder + 1))
done`;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('what is lost is asked for often, and looked for once', (t) => asksOften(t, instance));
}

async function asksOften(t: Test, { runtime, commands, files, insight }: TestInstance): Promise<void> {
  let looks = 0;
  const neighbour = Promise.withResolvers<void>();
  const counted: typeof insight = {
    ...insight,
    changes: async (handle) => {
      looks += 1;
      const found = await insight.changes(handle);
      await neighbour.promise;
      return found;
    },
  };
  const service = await aService({ runtime, commands, files, insight: counted, runtimeNode: 'test' });
  const [eve, bob] = [await aPerson(service, 'eve'), await aPerson(service, 'bob')];
  const [many, bobs] = await Promise.all(
    [eve, bob].map(async (who) => {
      const made = await as(service, who)('POST', '/api/containers', { name: 'dev', ...LIMITS });
      return `/api/containers/${made.json().db_id}`;
    }),
  );
  const fill = { command: ['sh', '-c', FILL], timeout_seconds: 120 };
  t.equal((await as(service, eve)('POST', `${many}/exec`, fill)).json().exit_code, 0);
  let waiting = TIMES;
  const asking = Array.from({ length: TIMES }, async () => {
    const answer = await as(service, eve)('GET', `${many}/changes`);
    waiting -= 1;
    return answer;
  });
  const run = await as(service, bob)('POST', `${bobs}/exec`, { command: ['true'] });
  t.equal(run.json().exit_code, 0);
  t.equal(waiting, TIMES, "a neighbour's command ends while all of them wait");
  neighbour.resolve();
  for (const answer of await Promise.all(asking))
    t.match([answer.statusCode, answer.json().complete], [200, false]);
  t.equal(looks, 1);
}

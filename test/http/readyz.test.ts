import t from 'tap';
import { fixedClock, memoryPorts } from '../../src/adapters/memory/index.ts';
import { anAdmin, anApiToken, aPerson, aService, as, type Bearer } from '../support/service.ts';

const secret = { status: 'degraded', detail: 'private, 20.10.24', mend: 'update the engine' } as const;
const readiness = async () => ({
  status: 'degraded' as const,
  parts: { database: secret, engine: secret, image: secret, disk: secret, isolation: secret },
});

t.test('anybody reads which parts are ready, administrators read why', async (t) => {
  const service = await aService({}, { readiness });
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const strong = await anApiToken(service, root, { scopes: ['admin'] });
  const weak = await anApiToken(service, root, { scopes: ['read'] });
  const ask = async (who: Bearer | null): Promise<unknown> => {
    const answer = await as(service, who)('GET', '/readyz');
    t.equal(answer.statusCode, 200);
    return answer.json();
  };
  for (const who of [root, strong]) t.same(await ask(who), await readiness());
  const part = { status: 'degraded' };
  const plain = {
    status: 'degraded',
    parts: { database: part, engine: part, image: part, disk: part, isolation: part },
  };
  for (const who of [null, ada, weak, { token: 'nonsense' }, { token: `svc_${'0'.repeat(64)}` }])
    t.same(await ask(who), plain);
});

t.test('a database that does not answer is said to everybody, with a credential as without', async (t) => {
  const ports = memoryPorts(fixedClock());
  const broken = async () => ({ ...(await readiness()), status: 'unready' as const });
  const service = await aService(ports, { readiness: broken });
  ports.storage.repositories.tokens.findWithUser = () => Promise.reject(new Error('no database'));
  for (const who of [null, { token: `svc_${'0'.repeat(64)}` }]) {
    const answer = await as(service, who)('GET', '/readyz');
    t.match([answer.statusCode, answer.json()], [503, { status: 'unready' }]);
    t.notMatch(answer.body, 'private');
  }
});

t.test('a page that asks how things are keeps no session open', async (t) => {
  const service = await aService({}, { readiness });
  const root = await anAdmin(service);
  const { repositories } = service.ports.storage;
  const touched: unknown[] = [];
  const touch = repositories.sessions.touch.bind(repositories.sessions);
  repositories.sessions.touch = async (uses) => {
    touched.push(...uses);
    await touch(uses);
  };
  await as(service, root)('GET', '/readyz');
  await service.writeDue();
  t.same(touched, []);
});

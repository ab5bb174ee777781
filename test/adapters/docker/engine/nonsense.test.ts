import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { dockerRuntime } from '../../../../src/adapters/docker/containers/container-runtime.ts';
import { dockerAt } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { storedContainer } from '../../../support/database/stored.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';

/** What an engine, or something in front of it, may answer when it is asked for a container. */
const NONSENSE: Readonly<Record<string, string>> = {
  'no JSON': '<html>502</html>',
  'a cut-off answer': '{"Id": "a',
  nothing: '',
  null: 'null',
  'an empty object': '{}',
  'an empty list': '[]',
  'other types': '{"Id": 7, "State": "yes", "Config": []}',
};

const SETTINGS = {
  instanceId: 'i',
  network: 'n',
  node: 'local',
  cgroupParent: null,
  processLimits: { nofile: 1024, sigpending: 256, msgqueue: 102_400, memlock: 65_536 },
  hostCpuMillicores: 4000,
};

t.test('what is answered with a failure by an engine that talks nonsense is not done later', async (t) => {
  let says = '';
  const asked: string[] = [];
  const engine: Server = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.method !== 'GET') asked.push(`${request.method} ${path}`);
    response.setHeader('content-type', 'application/json');
    if (path.endsWith('/_ping')) response.end('OK');
    else if (path.endsWith('/info') || path.includes('/volumes/')) response.writeHead(404).end('{}');
    else response.end(says);
  });
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  t.teardown(() => engine.close());
  const { port } = engine.address() as AddressInfo;
  const runtime = dockerRuntime(dockerAt({ host: '127.0.0.1', port, tls: null }), SETTINGS);
  const service = await aService({ runtime });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const { operations } = service.ports.storage.repositories;
  for (const [name, text] of Object.entries(NONSENSE)) {
    says = text;
    for (const [method, path] of [
      ['POST', '/start'],
      ['POST', '/stop'],
      ['DELETE', ''],
    ] as const) {
      const { dbId } = await storedContainer(service.ports.storage, ada.id);
      if (path === '/start') {
        await service.ports.storage.repositories.containers.changeState(dbId, ['running'], {
          state: 'stopped',
        });
      }
      asked.length = 0;
      const answer = await call(method, `/api/containers/${dbId}${path}`);
      const status = (await call('GET', `/api/containers/${dbId}`)).json().status;
      const label = `${name}, ${method} ${path}: ${answer.statusCode}`;
      t.ok([200, 202, 500].includes(answer.statusCode), label);
      const isOpen = (await operations.busy()).has(dbId);
      t.equal(isOpen, answer.statusCode === 202, `${label}: goes on only when that is said`);
      if (answer.statusCode !== 500) continue;
      t.equal(status, path === '/start' ? 'stopped' : 'running', `${label}: as before`);
      t.same(asked, [], `${label}: nothing was changed at the engine`);
    }
  }
});

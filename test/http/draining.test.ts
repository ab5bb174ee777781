import { Agent, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { drain } from '../../src/app/main/closing.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { aContainerOf, listening, openTerminal } from '../support/terminals.ts';

type Answer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
};

t.test('a service that ends takes nothing new, and says so in the form of every refusal', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  service.drain();
  for (const url of ['/api/me', '/readyz', '/api/version', '/metrics']) {
    const answer = await as(service, ada)('GET', url);
    t.equal(answer.statusCode, 503, url);
    t.match(answer.json(), { error: String, code: 'service_restarting' });
    t.match(answer.headers, { connection: 'close', 'retry-after': /^\d+$/ });
  }
});

t.test(
  'what is in flight ends, new requests on an open line are refused, terminals are told to come back',
  async (t) => {
    const service = await aService();
    const ada = await aPerson(service, 'ada');
    const id = await aContainerOf(service, ada);
    const terminal = await openTerminal(await listening(t, service), id, ada);
    const texts: string[] = [];
    terminal.socket.on('message', (data, isBinary) => isBinary || texts.push(String(data)));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { users } = service.ports.storage.repositories;
    const page = users.page.bind(users);
    users.page = async (request) => {
      await held;
      return await page(request);
    };
    await users.change(ada.id, { role: 'admin' });
    service.clock.advance(2_000);

    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    t.teardown(() => agent.destroy());
    const { port } = service.http.server.address() as AddressInfo;
    const ask = (path: string): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${ada.token}` };
        const request = get({ agent, port, host: '127.0.0.1', path, headers }, (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (chunk) => {
            body += chunk;
          });
          answer.once('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
          );
        });
        request.once('error', reject);
      });
    const slow = ask('/api/admin/users');
    t.equal((await ask('/api/me')).status, 200);
    const drained = drain(service);
    t.same(await terminal.closed(), [4012, 'service restarting']);
    const [{ type, retry_ms }] = texts
      .map((text) => JSON.parse(text))
      .filter(({ type }) => type === 'restarting');
    t.equal(type, 'restarting');
    t.ok(retry_ms >= 500 && retry_ms <= 5_000, `${retry_ms}`);
    release();
    t.equal((await slow).status, 200, 'what was on its way is answered');
    await drained;
    await t.rejects(ask('/api/me'), 'nobody listens any more');
  },
);

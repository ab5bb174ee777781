import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { aFolderOf } from '../support/folder.ts';
import { aPerson, aService } from '../support/service.ts';

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

t.test(
  'an upgrade where there is no WebSocket is refused as plain HTTP, and its connection ends',
  async (t) => {
    const webRoot = aFolderOf(t, { 'index.html': '<html></html>', 'assets/a.js': '1' });
    const service = await aService({}, { webRoot });
    const { token } = await aPerson(service, 'ada');
    const { http } = service;
    await http.listen({ port: 0, host: '127.0.0.1' });
    t.teardown(async () => {
      http.server.closeAllConnections();
      await http.close();
    });
    const { port } = http.addresses()[0] as AddressInfo;
    const upgrade = async (
      line: string,
      { credential = '', version = '13', protocol = 'websocket' } = {},
    ) => {
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      const authorization = credential === '' ? [] : [`Authorization: Bearer ${credential}`];
      const lines = [line, 'Host: x', 'Connection: Upgrade', `Upgrade: ${protocol}`, KEY, ...authorization];
      socket.write(`${[...lines, `Sec-WebSocket-Version: ${version}`].join('\r\n')}\r\n\r\n`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      const status = Number(/^HTTP\/1.1 (\d+)/.exec(String(head))?.[1]);
      if (status === 101) socket.destroy();
      else await text(socket);
      return status;
    };
    const signedIn = { credential: token };
    for (const path of ['/', '/nope', '/assets/a.js', '/livez', '/api/nope'])
      t.equal(await upgrade(`GET ${path} HTTP/1.1`), 404, path);
    t.equal(await upgrade('POST /api/auth/login HTTP/1.1'), 404, 'not even with another method');
    t.equal(await upgrade('GET / HTTP/1.1', { protocol: 'h2c' }), 404, 'nor to another protocol');
    for (const path of ['/api/me', '/api/events']) t.equal(await upgrade(`GET ${path} HTTP/1.1`), 401, path);
    t.equal(await upgrade('GET /api/me HTTP/1.1', signedIn), 404, 'with a credential');
    t.equal(await upgrade('GET /api/events HTTP/1.0', signedIn), 426, 'HTTP/1.0');
    for (const version of ['8', '14', ''])
      t.equal(await upgrade('GET /api/events HTTP/1.1', { ...signedIn, version }), 426, `version ${version}`);
    t.equal(await new Promise((resolve) => http.server.getConnections((_, count) => resolve(count))), 0);
    t.equal(await upgrade('GET /api/events HTTP/1.1', signedIn), 101, 'the usual one is let in');
  },
);

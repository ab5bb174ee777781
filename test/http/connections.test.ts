import { once } from 'node:events';
import { Agent, get as httpGet, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import pino from 'pino';
import t, { type Test } from 'tap';
import { onArrival } from '../../src/adapters/http/arrival.ts';
import { limitBodies } from '../../src/adapters/http/connections/body-timeout.ts';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { memoryRecordingFiles } from '../../src/adapters/memory/terminals/recording-files.ts';
import type { Ports } from '../../src/app/main/compose-options.ts';
import { drain } from '../../src/app/main/process/drain.ts';
import { ok } from '../../src/domain/result.ts';
import { waitFor } from '../support/patience.ts';
import { aBoxOfAda } from '../support/service/cluster.ts';
import { aPerson, aService, as } from '../support/service/service.ts';
import { endless, openStream, STREAMS } from '../support/service/streams.ts';
import { aStudio } from '../support/terminal/recordings.ts';
import { aContainerOf, listening, openTerminal } from '../support/terminal/terminals.ts';

/** The service on a port, and an unawaited request to the container. */
async function aBoxOnAPort(t: Test, ports: Partial<Ports> = {}) {
  const { service, ada, url, get } = await aBoxOfAda(ports);
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => service.http.close());
  const open = (method: string, path: string, headers: Record<string, string> = {}) =>
    httpRequest(`${address}${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
    }).on('error', () => {});
  return { service, open, get };
}

t.test('a leaving client ends its streamed work', async (t) => {
  const { ports, atWork } = endless();
  const { service, ada, box } = await aBoxOfAda(ports);
  const address = await listening(t, service);
  for (const kind of STREAMS) {
    // The client leaves at the end of its test.
    await t.test(kind, async (t) => {
      await openStream(t, { dbId: box.db_id }, address, ada, kind);
      await waitFor(() => atWork() === 1);
    });
    await waitFor(() => atWork() === 0, { what: kind });
  }
});

t.test("a streamed answer's head comes first, and leaving ends it", async (t) => {
  const runtime = memoryRuntime();
  const { insight } = memoryAccess(runtime);
  const silent = Promise.withResolvers<void>();
  let ended = false;
  const commands: Ports['commands'] = {
    open: async () => ({
      events: (async function* () {
        await silent.promise;
        yield { kind: 'exit' as const, exitCode: 0 };
      })(),
      end: async () => {
        ended = true;
        silent.resolve();
      },
      signal: async () => {},
      resize: async () => {},
    }),
  };
  const log = new Readable({ read() {} });
  const { open } = await aBoxOnAPort(t, {
    runtime,
    commands,
    insight: { ...insight, logs: async () => log },
  });
  for (const [method, path, accept, type, isOver] of [
    ['POST', '/exec', 'application/x-ndjson', 'application/x-ndjson; charset=utf-8', () => ended],
    ['GET', '/logs?follow=true', '*/*', 'text/plain; charset=utf-8', () => log.destroyed],
  ] as const) {
    const request = open(method, path, { accept, 'content-type': 'application/json' });
    request.end(method === 'POST' ? '{"command":["sleep","999"]}' : undefined);
    const [{ statusCode, headers }] = await once(request, 'response');
    t.same([statusCode, headers['content-type'], headers['cache-control']], [200, type, 'no-store']);
    t.notOk(isOver(), path);
    request.destroy();
    await waitFor(isOver, { what: path });
  }
});

t.test('a transfer without traffic for a minute ends', async (t) => {
  const silent = new Readable({ read() {} });
  const files = memoryRecordingFiles();
  const read: typeof files.read = async () => ({ content: silent, sizeBytes: 9 });
  const recordingFiles = { ...files, read };
  const { service, record, open, address, ada, dbId } = await aStudio(t, {
    ports: { ...endless().ports, recordingFiles },
  });
  await open();
  const { id } = (await record()).json();
  for (const [method, path] of [
    ['GET', `/api/containers/${dbId}/files?path=`],
    ['PUT', `/api/containers/${dbId}/files?path=a`],
    ['GET', `/api/recordings/${id}/cast`],
    ['GET', '/api/audit'],
  ] as const) {
    const accepted = once(service.http.server, 'connection');
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/csv' };
    const request = httpRequest(address.replace('ws', 'http') + path, { method, headers, agent: false });
    t.teardown(() => request.destroy());
    const over = new Promise((resolve) => request.once('close', resolve));
    request.on('error', () => {}).on('response', (answer) => answer.on('error', () => {}).resume());
    if (method === 'PUT') request.write('half');
    else request.end();
    const [socket] = await accepted;
    await waitFor(() => socket.timeout === 60_000, { what: `${path} has a limit` });
    socket.emit('timeout');
    await over;
  }
});

t.test('a client that leaves before the first byte of a download is no fault in the log', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  const content = new Readable({ read() {} });
  let isOpen = false;
  const open: typeof files.open = async () => {
    isOpen = true;
    return ok({ kind: 'archive', content });
  };
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const service = await aService({ runtime, files: { ...files, open } }, { logger });
  const ada = await aPerson(service, 'ada');
  const path = `/api/containers/${await aContainerOf(service, ada)}/files?path=folder`;
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => service.http.close());
  const request = httpRequest(`${address}${path}`, { headers: { authorization: `Bearer ${ada.token}` } });
  request.on('error', () => {}).end();
  await waitFor(() => isOpen && content.readableFlowing);
  request.destroy();
  await waitFor(() => content.destroyed);
  await new Promise(setImmediate);
  t.same(lines, []);
});

t.test('a request that names a type and has no body is answered', async (t) => {
  const service = await aService();
  const address = new URL(await service.http.listen({ port: 0, host: '127.0.0.1' }));
  t.teardown(() => service.http.close());
  for (const [line, type, status] of [
    ['POST /api/auth/login', 'application/json', 400],
    ['POST /api/auth/logout', 'application/json', 401],
    ['POST /api/unknown', 'application/json', 404],
    ['PUT /api/unknown', 'application/octet-stream', 404],
    ['GET /livez', 'application/json', 200],
  ] as const) {
    const socket = connect({ port: Number(address.port), host: address.hostname });
    t.teardown(() => socket.destroy());
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    t.match(String(head), new RegExp(`^HTTP/1.1 ${status} `), `${line} ${type}`);
  }
});

t.test('over a connection an answer has the headers of an injected one, each once', async (t) => {
  const service = await aService();
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => service.http.close());
  const ofTransfer = [
    'connection',
    'content-length',
    'date',
    'keep-alive',
    'transfer-encoding',
    'x-request-id',
  ];
  for (const path of ['/livez', '/docs', '/api/me', '/api/unknown']) {
    const injected = await service.http.inject(path);
    const [answer] = (await once(httpGet(`${address}${path}`), 'response')) as [IncomingMessage];
    answer.resume();
    const names = answer.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    t.equal(new Set(names).size, names.length, path);
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/);
    const lasting = (headers: object) =>
      Object.entries(headers).filter(([name]) => !ofTransfer.includes(name));
    t.same(Object.fromEntries(lasting(answer.headers)), Object.fromEntries(lasting(injected.headers)), path);
    t.type(answer.headers['content-security-policy'], 'string');
  }
});

t.test('an interrupted upload leaves the old file', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  let [begun, ended] = [0, 0];
  const write: typeof files.write = async (...given) => {
    begun += 1;
    return await files.write(...given).finally(() => {
      ended += 1;
    });
  };
  const { open, get } = await aBoxOnAPort(t, { runtime, files: { ...files, write } });
  const full = open('PUT', '/files?path=file');
  full.end('old');
  t.equal((await once(full, 'response'))[0].statusCode, 201);
  const broken = open('PUT', '/files?path=file', { 'content-length': '1000' });
  broken.write('half');
  await waitFor(() => begun === 2);
  broken.destroy();
  await waitFor(() => ended === 2);
  t.equal((await get('file')).body, 'old');
});

t.test('a refused upload is answered while it is still being sent', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  const write: Ports['files']['write'] = (handle, path, content) =>
    files.write(handle, path, content, 100_000);
  const { open } = await aBoxOnAPort(t, { runtime, files: { ...files, write } });
  const request = open('PUT', '/files?path=file', { 'content-length': String(10 ** 9) });
  request.write(Buffer.alloc(200_000));
  const [answer] = await once(request, 'response');
  t.equal(answer.statusCode, 413);
  t.equal(JSON.parse(await text(answer)).code, 'file_too_large');
  request.destroy();
});

t.test('an upgrade that arrives while the server closes is refused, and the server ends', async (t) => {
  const { http } = await aService();
  const { port } = new URL(await http.listen({ port: 0, host: '127.0.0.1' }));
  const accepted = once(http.server, 'connection');
  const client = connect(Number(port), '127.0.0.1');
  t.teardown(() => client.destroy());
  const answer = text(client);
  const [head, rest] = [
    'GET /api/events HTTP/1.1\r\nHost: x\r\n',
    'Connection: upgrade\r\nUpgrade: websocket\r\n',
  ];
  client.write(head);
  const [connection] = await accepted;
  await waitFor(() => connection.bytesRead === head.length);
  let isClosed = false;
  const closing = http.close().then(() => {
    isClosed = true;
  });
  await waitFor(() => !http.server.listening);
  client.write(`${rest}\r\n`);
  await waitFor(() => isClosed, { what: 'the server has closed' });
  t.match(await answer, /^HTTP\/1\.1 503 /);
  await closing;
});

t.test('a missing body times out, except where a body may be slow', async (t) => {
  const http = Fastify() as unknown as Http;
  onArrival(http, [limitBodies(0.2)]);
  http.post('/quick', async () => ({ ok: true }));
  http.post('/slow', { config: { slowBody: true } }, async () => ({ ok: true }));
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => http.close());
  const begin = (path: string) => {
    const bound = http.addresses()[0] as AddressInfo;
    const socket = connect(bound.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (data) => {
      heard += data;
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
    );
    t.teardown(() => socket.destroy());
    const answer = async (): Promise<string> => {
      await waitFor(() => heard.includes('\r\n'));
      return heard.split('\r\n')[0] ?? '';
    };
    return { socket, answer };
  };
  const [slow, quick] = [begin('/slow'), begin('/quick')];
  t.equal(await quick.answer(), 'HTTP/1.1 408 Request Timeout');
  slow.socket.write('}');
  t.equal(await slow.answer(), 'HTTP/1.1 200 OK', 'after the time that the other was given');
});

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

t.test('requests end with the service, and terminals are asked to reconnect', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const id = await aContainerOf(service, ada);
  const terminal = await openTerminal(await listening(t, service), id, ada);
  const texts: string[] = [];
  terminal.socket.on('message', (data, isBinary) => isBinary || texts.push(String(data)));
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
  const { people, users } = service.ports.storage.repositories;
  const page = people.page.bind(people);
  people.page = async (request) => {
    await blocked;
    return await page(request);
  };
  await users.change(ada.id, { role: 'admin' });
  service.clock.advance(2_000);

  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  t.teardown(() => agent.destroy());
  const { port } = service.http.server.address() as AddressInfo;
  const ask = async (path: string): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${ada.token}` };
    const request = httpGet({ agent, port, host: '127.0.0.1', path, headers });
    const [answer] = await once(request, 'response');
    await text(answer);
    return answer.statusCode;
  };
  const slow = ask('/api/admin/users');
  t.equal(await ask('/api/me'), 200);
  const drained = drain(service);
  t.same(await terminal.closed(), [4012, 'service restarting']);
  const [{ type, retry_ms }] = texts
    .map((text) => JSON.parse(text))
    .filter(({ type }) => type === 'restarting');
  t.equal(type, 'restarting');
  t.ok(retry_ms >= 500 && retry_ms <= 5_000, `${retry_ms}`);
  release();
  t.equal(await slow, 200, 'what was on its way is answered');
  await drained;
  await t.rejects(ask('/api/me'), 'nobody listens any more');
});

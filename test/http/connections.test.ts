import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { limitBodies } from '../../src/adapters/http/body-timeout.ts';
import type { Http } from '../../src/adapters/http/types.ts';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { Ports } from '../../src/app/main/ports.ts';
import { aBoxOfAda } from '../support/inside-service.ts';
import { waitFor } from '../support/patience.ts';

/** The service on a port, and a request to the container that is not waited for. */
async function listening(t: Test, ports: Partial<Ports> = {}) {
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

t.test('whoever leaves a command that runs ends it', async (t) => {
  let ended = 0;
  const commands: Ports['commands'] = {
    open: async () => {
      const stop = Promise.withResolvers<void>();
      const end = async () => {
        ended += 1;
        stop.resolve();
      };
      return {
        events: (async function* () {
          yield { kind: 'output' as const, stream: 'stdout' as const, data: Buffer.from('begun\n') };
          await stop.promise;
          yield { kind: 'exit' as const, exitCode: 137 };
        })(),
        end,
      };
    },
  };
  const { open } = await listening(t, { commands });
  const request = open('POST', '/exec', {
    accept: 'application/x-ndjson',
    'content-type': 'application/json',
  });
  request.end('{"command":["sleep","999"]}');
  const [answer] = await once(request, 'response');
  t.equal(
    String((await once(answer, 'data'))[0]),
    '{"stream":"stdout","data":"begun\\n"}\n',
    'it comes at once',
  );
  t.equal(ended, 0);
  request.destroy();
  await waitFor(() => ended > 0);
});

t.test('the head of a streamed answer comes before anything is written', async (t) => {
  const runtime = memoryRuntime();
  const { insight } = memoryAccess(runtime);
  const silent = Promise.withResolvers<void>();
  t.teardown(() => silent.resolve());
  const commands: Ports['commands'] = {
    open: async () => ({
      events: (async function* () {
        await silent.promise;
        yield { kind: 'exit' as const, exitCode: 0 };
      })(),
      end: async () => silent.resolve(),
    }),
  };
  const logs = async () => new Readable({ read() {} });
  const { open } = await listening(t, { runtime, commands, insight: { ...insight, logs } });
  const exec = open('POST', '/exec', { accept: 'application/x-ndjson', 'content-type': 'application/json' });
  exec.end('{"command":["sleep","999"]}');
  const log = open('GET', '/logs?follow=true');
  log.end();
  const types = [];
  for (const request of [exec, log]) {
    const [answer] = await once(request, 'response');
    types.push([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']]);
    request.destroy();
  }
  t.same(types, [
    [200, 'application/x-ndjson; charset=utf-8', 'no-store'],
    [200, 'text/plain; charset=utf-8', 'no-store'],
  ]);
});

t.test('whoever leaves a log or a download ends the reading', async (t) => {
  const opened: Readable[] = [];
  const endless = (): Readable => {
    const content = new Readable({ read() {} });
    content.push('one\n');
    opened.push(content);
    return content;
  };
  const runtime = memoryRuntime();
  const { files, insight } = memoryAccess(runtime);
  const archive = async () => ({
    ok: true as const,
    value: { kind: 'archive' as const, content: endless() },
  });
  const { open } = await listening(t, {
    runtime,
    insight: { ...insight, logs: async () => endless() },
    files: { ...files, open: archive },
  });
  for (const path of ['/logs?follow=true', '/files?path=folder']) {
    const request = open('GET', path);
    request.end();
    const [answer] = await once(request, 'response');
    t.equal(String((await once(answer, 'data'))[0]), 'one\n');
    request.destroy();
    await waitFor(() => opened.at(-1)?.destroyed === true, { what: path });
  }
});

t.test('an upload that breaks off leaves the old file', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  let [begun, ended] = [0, 0];
  const write: typeof files.write = async (...given) => {
    begun += 1;
    return await files.write(...given).finally(() => {
      ended += 1;
    });
  };
  const { open, get } = await listening(t, { runtime, files: { ...files, write } });
  const whole = open('PUT', '/files?path=file');
  whole.end('old');
  t.equal((await once(whole, 'response'))[0].statusCode, 201);
  const broken = open('PUT', '/files?path=file', { 'content-length': '1000' });
  broken.write('half');
  await waitFor(() => begun === 2);
  broken.destroy();
  await waitFor(() => ended === 2);
  t.equal((await get('file')).body, 'old');
});

t.test('an upload that is refused is answered while it is still being sent', async (t) => {
  const runtime = memoryRuntime();
  const { files } = memoryAccess(runtime);
  const write: Ports['files']['write'] = (handle, path, content) =>
    files.write(handle, path, content, 100_000);
  const { open } = await listening(t, { runtime, files: { ...files, write } });
  const request = open('PUT', '/files?path=file', { 'content-length': String(10 ** 9) });
  request.write(Buffer.alloc(200_000));
  const [answer] = await once(request, 'response');
  t.equal(answer.statusCode, 413);
  t.equal(JSON.parse(await text(answer)).code, 'file_too_large');
  request.destroy();
});

t.test('a body that does not come is not waited for, but where a body may take its time', async (t) => {
  const http = Fastify() as unknown as Http;
  limitBodies(http, 0.2);
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

import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { inProcess } from '../../src/adapters/mcp/injected-fetch.ts';
import { Berth } from '../../src/client/index.ts';
import { waitFor } from '../support/patience.ts';
import { aCluster, inMemory } from '../support/service/cluster.ts';
import { theCommand } from '../support/service/command.ts';
import { mcpOverHttp, mcpOverStdio } from '../support/service/mcp-client.ts';
import {
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  type Bearer,
  small,
} from '../support/service/service.ts';
import { endless } from '../support/service/streams.ts';
import { listening } from '../support/terminal/terminals.ts';
import { valuesOf } from '../support/values.ts';

const EVERY_TOOL = [
  ...['list_containers', 'get_container', 'create_container', 'start_container', 'stop_container'],
  ...['run_command', 'search_files', 'list_ports', 'read_logs'],
  ...['start_process', 'list_processes', 'read_process_output', 'write_process_input', 'signal_process'],
  ...['read_file', 'write_file', 'list_files'],
];

async function aScene(t: Test) {
  const service = await aService();
  const address = await listening(t, service);
  const ada = await aPerson(service, 'ada');
  const token = await anApiToken(service, ada, { name: 'assistant' });
  const derive = async (request: object): Promise<Bearer> =>
    (await as(service, token)('POST', '/api/tokens/derive', { name: 'child', ...request })).json();
  const create = async (name: string): Promise<string> =>
    (await as(service, ada)('POST', '/api/containers', { name, ...small })).json().db_id;
  const connect = async ({ token: secret }: Bearer, query?: string) => {
    const connected = await mcpOverHttp(address, secret, query);
    t.teardown(() => connected.client.close());
    return connected;
  };
  return { service, address, ada, token, derive, create, connect };
}

t.test('an assistant creates a container, works in it and stops it', async (t) => {
  const { service, token, connect } = await aScene(t);
  const { client, tools, call } = await connect(token);
  t.match(client.getServerVersion(), { name: 'berth', version: '0.0.0' });
  t.same(await tools(), EVERY_TOOL);
  t.match(JSON.parse((await call('create_container', { name: 'dev', ...small })).text), {
    status: 'running',
  });
  t.match(await call('write_file', { container: 'dev', path: 'notes/a.txt', content: 'héllo\n' }), {
    text: 'wrote 7 bytes to /workspace/notes/a.txt',
  });
  t.same(await call('read_file', { container: 'dev', path: 'notes/a.txt' }), {
    text: 'héllo\n',
    isError: false,
  });
  t.match(await call('search_files', { container: 'dev', pattern: '^H.LLO', ignore_case: true }), {
    text: '/workspace/notes/a.txt:1:héllo',
  });
  t.match((await call('list_files', { container: 'dev', path: 'notes' })).text, /^file\t7\t.*\ta\.txt$/);
  t.match((await call('list_containers')).text, '"name": "dev"');
  t.match(await call('stop_container', { container: 'dev' }), { text: 'dev is stopped' });
  t.match(await call('run_command', { container: 'dev', command: 'true' }), {
    text: 'container is not running (container_not_running)',
    isError: true,
  });
  const [record] = auditOf(service, 'file_uploaded');
  t.match(JSON.parse(record?.details ?? '{}'), { token_name: 'assistant', path: '/workspace/notes/a.txt' });
  t.match(record?.userAgent, /node/, 'the record has the agent of the assistant');
});

t.test('an assistant starts a process, feeds it, reads on where it was, and ends it', async (t) => {
  const { service, token, create, connect, derive } = await aScene(t);
  await create('dev');
  const { call: over } = await connect(token, '?containers=dev');
  const call = async (name: string, args: object = {}) => (await over(name, { ...args })).text;
  const { id } = JSON.parse(
    (await over('start_process', { command: 'cat', name: 'copy', stdin: true })).text,
  );
  t.match(JSON.parse(await call('list_processes')), [{ id, name: 'copy' }]);
  const process = 'copy';
  t.match(await call('read_process_output', { process: 'none' }), /process_not_found/);
  await call('write_process_input', { process, text: 'héllo\n' });
  const printed = 'héllo\n\n[running; continue after 7,0]';
  await waitFor(async () => (await call('read_process_output', { process })) === printed, { what: printed });
  t.equal(
    await call('read_process_output', { process, after: '3,0' }),
    'llo\n\n[running; continue after 7,0]',
  );
  const reader = await connect(await derive({ scopes: ['read'] }));
  for (const [name, args] of [
    ['list_processes', {}],
    ['read_process_output', { process }],
    ['list_ports', {}],
    ['search_files', { pattern: 'x' }],
  ] as const)
    t.match(await reader.call(name, { container: 'dev', ...args }), { isError: false }, `${name} only reads`);
  t.match(await reader.call('write_process_input', { container: 'dev', process, text: 'x' }), {
    isError: true,
  });
  await call('signal_process', { process });
  t.match(JSON.parse(await call('list_processes')), [{ id, status: 'ended' }]);
  for (const action of ['ports_listed', 'files_searched'] as const)
    t.match(JSON.parse(auditOf(service, action)[0]?.details ?? '{}'), { token_name: 'child' }, action);
  const [started] = auditOf(service, 'process_started');
  t.match(JSON.parse(started?.details ?? '{}'), { token_name: 'assistant', name: 'copy' });
});

t.test('a long file is read in parts that join to the whole', async (t) => {
  const { service, ada, token, create, connect } = await aScene(t);
  const dbId = await create('dev');
  const full = 'ü'.repeat(60_001);
  await service.http.inject({
    method: 'PUT',
    url: `/api/containers/${dbId}/files?path=long`,
    payload: Buffer.from(full),
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/octet-stream' },
  });
  const { call } = await connect(token);
  let read = '';
  for (let offset = 0; ; ) {
    const { text } = await call('read_file', { container: 'dev', path: 'long', offset });
    const [, part = text, next] = /^(.*)\n\[… cut: continue at offset (\d+) …\]$/s.exec(text) ?? [];
    read += part;
    if (next === undefined) break;
    offset = Number(next);
  }
  t.ok(read === full);
});

t.test('faults of arguments and refusals are answers that the model can read', async (t) => {
  const { token, create, connect, derive } = await aScene(t);
  await create('dev');
  const { call } = await connect(token);
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ['run_command', { container: 'dev' }, /^command: /],
    ['run_command', { container: 'dev', command: 'x', timeout_seconds: 601 }, /^timeout_seconds: /],
    ['run_command', { container: 'dev', command: 'x', cwd: '/' }, /^cwd: /],
    ['run_command', { command: 'x' }, /^container is required/],
    ['read_file', { container: 'dev', path: 'none' }, /^file not found \(file_not_found\)$/],
    ['read_file', { container: 'dev', path: '/' }, /./],
    ['read_file', { container: 'dev', path: 'a', offset: 67_108_865 }, /^offset: .* 67108864$/],
    ['read_logs', { container: 'dev', offset: 67_108_865 }, /^offset: .* 67108864$/],
    ['get_container', { container: 'none' }, /\(container_not_found\)$/],
    ['create_container', { name: 'dev', ...small }, /\(name_taken\)$/],
    ['create_container', { name: '!', ...small }, /^name .*\(validation_failed\)$/],
    ['fly', {}, /^there is no tool fly$/],
  ];
  for (const [name, args, text] of cases)
    t.match(await call(name, args as Record<string, unknown>), { text, isError: true }, name);
  const reader = await connect(await derive({ scopes: ['read'] }));
  t.match(await reader.call('read_logs', { container: 'dev' }), { isError: false });
  t.match(await reader.call('write_file', { container: 'dev', path: 'a', content: '' }), {
    text: 'insufficient scope (insufficient_scope)',
    isError: true,
  });
});

t.test('a token or an address for one container shows nothing else', async (t) => {
  const { token, derive, create, connect } = await aScene(t);
  await create('dev');
  const other = await create('other');
  const narrow = await derive({ containers: ['dev'], expires_in_minutes: 30 });
  for (const [who, query] of [
    [narrow, ''],
    [token, '?containers=dev'],
  ] as const) {
    const { tools, call } = await connect(who, query);
    t.notOk((await tools()).some((name) => ['create_container', 'delete_container'].includes(name)));
    t.same(valuesOf(JSON.parse((await call('list_containers')).text), 'name'), ['dev']);
    for (const container of ['other', other])
      for (const [name, args] of [
        ['get_container', {}],
        ['run_command', { command: 'true' }],
        ['read_file', { path: 'a' }],
        ['write_file', { path: 'a', content: '' }],
        ['stop_container', {}],
      ] as const)
        t.match(await call(name, { container, ...args }), { isError: true }, `${name} ${container}`);
  }
  const { call } = await connect(token, '?containers=dev');
  t.match(
    await call('get_container'),
    { text: '"name": "dev"', isError: false },
    'the only one need not be named',
  );
});

t.test('deleting needs to be allowed, and the right to', async (t) => {
  const { service, token, derive, create, connect } = await aScene(t);
  const dbId = await create('dev');
  const plain = await connect(token);
  t.match(await plain.call('delete_container', { container: 'dev' }), { isError: true });
  const reader = await connect(await derive({ scopes: ['read'] }), '?allow_delete=true');
  t.match(await reader.call('delete_container', { container: 'dev' }), { isError: true });
  const { client, call } = await connect(token, '?allow_delete=true');
  const { tools } = await client.listTools();
  t.match(tools.find(({ name }) => name === 'delete_container')?.annotations, {
    destructiveHint: true,
    readOnlyHint: false,
  });
  t.equal(auditOf(service, 'container_deleted').length, 0);
  t.match(await call('delete_container', { container: dbId }), { text: 'dev is deleted', isError: false });
});

t.test('without a valid token nothing is answered, and only messages are taken', async (t) => {
  const { service, token } = await aScene(t);
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  t.equal((await as(service, null)('POST', '/api/mcp', ping)).statusCode, 401);
  const call = as(service, token);
  t.match((await call('POST', '/api/mcp', ping)).json(), { jsonrpc: '2.0', id: 1, result: {} });
  const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const noted = await call('POST', '/api/mcp', note);
  t.same([noted.statusCode, noted.body], [202, '']);
  for (const body of [[ping], { ...ping, jsonrpc: '1.0' }, { id: 1, result: {} }])
    t.equal((await call('POST', '/api/mcp', body)).statusCode, 400, JSON.stringify(body));
  const old = await call('POST', '/api/mcp', ping, { 'mcp-protocol-version': '1999-01-01' });
  t.match([old.statusCode, old.json()], [400, { fields: { 'MCP-Protocol-Version': 'is not supported' } }]);
  const listened = await call('GET', '/api/mcp');
  t.same([listened.statusCode, listened.headers.allow], [405, 'POST']);
});

t.test('a token revoked in the middle ends the call and the command', async (t) => {
  const work = endless();
  const cluster = await aCluster(t, { ...inMemory(), ...work.ports });
  const { call, client } = await mcpOverHttp(cluster.addresses[0], cluster.token.token);
  t.teardown(() => client.close());
  const running = call('run_command', { container: 'dev', command: 'sleep infinity' });
  await waitFor(() => work.atWork() === 1, { what: 'the command runs' });
  await as(cluster.there, cluster.other)('POST', `/api/tokens/${cluster.tokenId}/revoke`);
  await t.rejects(running);
  await waitFor(() => work.atWork() === 0, { what: 'the command has ended' });
  await t.rejects(call('list_containers'), /401|Invalid or expired API token/);
});

t.test('a client that leaves ends its command', async (t) => {
  const work = endless();
  const cluster = await aCluster(t, { ...inMemory(), ...work.ports });
  const { call, client } = await mcpOverHttp(cluster.addresses[0], cluster.token.token);
  const running = call('run_command', { container: 'dev', command: 'sleep infinity' });
  running.catch(() => undefined);
  await waitFor(() => work.atWork() === 1, { what: 'the command runs' });
  await client.close();
  await waitFor(() => work.atWork() === 0, { what: 'the command has ended' });
});

for (const way of ['stdio', 'HTTP'] as const)
  t.test(`a call over ${way} says that it still runs`, async (t) => {
    const work = endless();
    const cluster = await aCluster(t, { ...inMemory(), ...work.ports });
    const { token } = cluster.token;
    const [address] = cluster.addresses;
    const { env } = theCommand(t, address.replace(/^ws/, 'http'));
    const { client, call } =
      way === 'HTTP' ? await mcpOverHttp(address, token) : await mcpOverStdio({ ...env, BERTH_TOKEN: token });
    t.teardown(() => client.close());
    const params = { name: 'run_command', arguments: { container: 'dev', command: 'sleep infinity' } };
    const left = new AbortController();
    const progress = await new Promise<{ readonly message?: string | undefined }>((resolve) => {
      client.callTool(params, undefined, { onprogress: resolve, signal: left.signal }).catch(() => {});
    });
    t.match(progress.message, /^run_command: \d+ s$/);
    t.match(await call('list_containers'), { text: /dev/ }, 'another call meanwhile');
    left.abort();
    // Over HTTP a server that keeps nothing learns of it by the end of the stream alone.
    if (way === 'HTTP') await client.close();
    await waitFor(() => work.atWork() === 0, { what: 'the command of a call that was given up has ended' });
  });

t.test('berth mcp serves the same tools over stdio, for the containers of its token', async (t) => {
  const { service, ada, address, derive, create } = await aScene(t);
  await create('dev');
  await create('other');
  const { env } = theCommand(t, address.replace(/^ws/, 'http'));
  const connect = async ({ token }: Bearer, ...args: string[]) => {
    const connected = await mcpOverStdio({ ...env, BERTH_TOKEN: token }, args);
    t.teardown(() => connected.client.close());
    return connected;
  };
  const parent = await anApiToken(service, ada, { name: 'desktop' });
  const full = await connect(parent, '--allow-delete');
  t.same(new Set(await full.tools()), new Set([...EVERY_TOOL, 'delete_container']));
  await full.call('write_file', { container: 'dev', path: 'a', content: 'x' });
  t.match(auditOf(service, 'file_uploaded').at(-1), {
    userAgent: /^berth\//,
    details: /"token_name":"desktop"/,
  });
  const named = await connect(parent, '--container', 'dev');
  t.match(await named.call('read_file', { path: 'a' }), { text: 'x', isError: false });
  t.match(await named.call('get_container', { container: 'other' }), { isError: true });
  const narrow = await connect(await derive({ containers: ['dev'] }));
  t.notOk((await narrow.tools()).includes('create_container'));
  t.match(await narrow.call('get_container', { container: 'other' }), { isError: true });
  t.match(JSON.parse((await narrow.call('list_containers')).text), [{ name: 'dev' }]);
  const { tokens } = (await as(service, ada)('GET', '/api/tokens')).json();
  const first = tokens.find(({ name }: { name: string }) => name === 'assistant');
  await as(service, ada)('POST', `/api/tokens/${first.id}/revoke`);
  t.match(await narrow.call('list_containers'), { text: /Invalid or expired API token/, isError: true });
  const { code, stderr } = await theCommand(t, address.replace(/^ws/, 'http'), 'svc_wrong').spawned(['mcp']);
  t.match([code, stderr], [4, /invalid, expired or revoked/], 'a bad token is reported at the start');
});

t.test('a failure within the process names no address', async (t) => {
  const http = { inject: () => Promise.reject(new Error('closed')) } as unknown as FastifyInstance;
  const berth = new Berth({ ...inProcess(http, '::1'), token: 'x' });
  await t.rejects(berth.create({}), { message: 'Berth did not respond' });
});

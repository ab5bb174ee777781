import t from 'tap';
import { aBoxOfAda, JSON_LIST, NDJSON } from '../support/inside-service.ts';
import { anApiToken, as } from '../support/service.ts';

t.test('a command is followed line by line by those who ask for it', async (t) => {
  const { call, url } = await aBoxOfAda();
  const run = (payload: object, headers: Record<string, string> = NDJSON) =>
    call('POST', `${url}/exec`, payload, headers);
  const answer = await run({ command: ['echo', 'ünï', '漢字'] });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8');
  const lines = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(lines.at(-1), { exit_code: 0 });
  t.ok(lines.slice(0, -1).every((line) => line.stream === 'stdout'));
  t.equal(lines.map((line) => line.data ?? '').join(''), 'ünï 漢字\n', 'no character is broken');
  t.same((await run({ command: ['sleep', '9'], timeout_seconds: 1 })).body, '{"exit_code":null}\n');
  t.match((await run({ command: ['nope'] })).body, /"stream":"stderr","data":".*\n\{"exit_code":127\}\n$/s);
  for (const accept of ['*/*', 'application/json', 'application/*', '']) {
    t.match(
      (await run({ command: ['true'] }, { accept })).json(),
      { exit_code: 0, truncated: false },
      accept,
    );
  }
  t.equal(
    (await run({ command: ['true'] }, { accept: 'text/html, Application/X-NDJSON;q=0.9' })).body,
    '{"exit_code":0}\n',
  );
  t.equal((await run({ command: [] })).statusCode, 400);
});

t.test('a command counts as use of its container', async (t) => {
  const { service, call, url } = await aBoxOfAda();
  for (const accept of [NDJSON, JSON_LIST]) {
    service.clock.advance(60_000);
    await call('POST', `${url}/exec`, { command: ['true'] }, accept);
    t.equal((await call('GET', url)).json().last_used_at, service.clock.now().toISOString(), accept.accept);
  }
});

t.test('what a command costs the service is bounded, and the answer names the field', async (t) => {
  const { call, url } = await aBoxOfAda();
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`A${at}`, value]));
  const cases: [string, object, object][] = [
    ['too many variables', { command: ['true'], env: many(513, '') }, { env: /at most|more than/ }],
    ['a great many that are no text', { command: ['true'], env: many(20_000, 1) }, { env: /more than 512/ }],
    ['a variable without a name', { command: ['true'], env: { '': 'x' } }, { env: String }],
    ['a name with =', { command: ['true'], env: { 'A=B': 'x' } }, { env: String }],
    ['a name of two lines', { command: ['true'], env: { 'A\nB': 'x' } }, { env: String }],
    ['NUL in a value', { command: ['true'], env: { A: 'x\0y' } }, { env: String }],
    ['33 KiB of variables', { command: ['true'], env: { A: 'x'.repeat(33_792) } }, { env: String }],
    ['too many arguments', { command: Array(1025).fill('x') }, { command: /more than 1024/ }],
    ['a great many that are no text', { command: Array(60_000).fill(0) }, { command: /more than 1024/ }],
    ['too long arguments', { command: Array(5).fill('x'.repeat(32_768)) }, { command: /128 KiB/ }],
    ['a great many fields', many(20_000, 1), { body: /at most 64/ }],
  ];
  for (const [what, body, fields] of cases) {
    for (const accept of [NDJSON, JSON_LIST]) {
      const answer = await call('POST', `${url}/exec`, body, accept);
      t.equal(answer.statusCode, 400, what);
      t.match(answer.json(), { code: 'validation_failed', fields }, what);
      t.ok(answer.body.length < 1000, `${what}: one fault is enough`);
    }
  }
  const large = await call('POST', `${url}/exec`, { command: ['cat'], stdin: 'x'.repeat(262_144) });
  t.match([large.statusCode, large.json().code], [413, 'body_too_large']);
  t.same((await call('POST', '/api/containers', { name: 'b', env: many(513, 'x') })).json().fields, {
    env: 'must NOT have more than 512 properties',
  });
});

t.test('a body is counted as a request more for each 64 KiB', async (t) => {
  const { service, ada, url } = await aBoxOfAda();
  const token = await anApiToken(service, ada, { scopes: ['write'] });
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 10 });
  const run = async (stdin: string) =>
    (await as(service, token)('POST', `${url}/exec`, { command: ['true'], stdin })).statusCode;
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push(await run('x'.repeat(200_000)));
  t.same(statuses, [200, 200, 200, 429], 'four requests each');
});

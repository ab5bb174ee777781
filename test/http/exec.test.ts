import t from 'tap';
import { aBoxOfAda, JSON_LIST, NDJSON } from '../support/inside-service.ts';

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

import { spawn } from '@lydell/node-pty';
import t, { type Test } from 'tap';
import { waitFor } from '../support/patience.ts';
import { SOURCE, theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService, as } from '../support/service/service.ts';

/** Runs the command on a terminal; each key is pressed when its question is shown. */
async function onTerminal(t: Test, args: readonly string[], answers: readonly (readonly [RegExp, string])[]) {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  for (const name of ['api', 'web']) await as(service, ada)('POST', '/api/containers', { name });
  const { token } = await anApiToken(service, ada);
  const { home, env } = theCommand(t, address, token);
  const terminal = spawn(process.execPath, [SOURCE, ...args], { cwd: home, env: { ...env, TERM: 'xterm' } });
  let output = '';
  terminal.onData((text) => {
    output += text;
  });
  const code = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  t.teardown(() => terminal.kill());
  for (const [question, keys] of answers) {
    await waitFor(() => question.test(output), { what: () => `${question} in ${output}` });
    terminal.write(keys);
  }
  return { code: await code, output };
}

for (const [name, args, answers, code, words] of [
  [
    'a container is picked by its number',
    ['stop'],
    [[/api[\s\S]*web[\s\S]*Which/, '2\r']],
    0,
    /web is stopped/,
  ],
  ['or by its name', ['stop'], [[/Which container/, 'api\r']], 0, /api is stopped/],
  [
    'what is not in the list is refused',
    ['stop'],
    [[/Which container/, '7\r']],
    2,
    /No container was chosen/,
  ],
  ['a deletion is confirmed', ['rm', 'web'], [[/Delete web\?/, 'y\r']], 0, /web is deleted/],
  ['or declined', ['rm', 'web'], [[/Delete web\?/, '\r']], 1, /Nothing was changed/],
  ['or interrupted', ['rm', 'web'], [[/Delete web\?/, '\u0003']], 130, /interrupted/],
] as const) {
  t.test(`on a terminal: ${name}`, async (t) => {
    const ran = await onTerminal(t, args, answers);
    t.match([ran.code, ran.output], [code, words]);
  });
}

t.test('a secret that is typed is not shown', async (t) => {
  const secret = `svc_${'0'.repeat(64)}`;
  const ran = await onTerminal(t, ['login', '--with-token'], [[/Token: /, `${secret}\r`]]);
  t.match([ran.code, ran.output], [4, /invalid, expired or revoked/]);
  t.notMatch(ran.output, secret);
});

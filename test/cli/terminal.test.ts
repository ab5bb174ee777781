import t, { type Test } from 'tap';
import { SOURCE, theCommandOfAda } from '../support/service/command.ts';
import { as } from '../support/service/service.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';

/** Runs the command on a terminal; each key is pressed when its question is shown. */
async function asked(t: Test, args: readonly string[], answers: readonly (readonly [RegExp, string])[]) {
  const { service, ada, home, env } = await theCommandOfAda(t);
  for (const name of ['api', 'web']) await as(service, ada)('POST', '/api/containers', { name });
  const options = { cwd: home, env: { ...env, TERM: 'xterm' } };
  const { user, shows, shown, ended } = onTerminal(t, process.execPath, [SOURCE, ...args], options);
  for (const [question, keys] of answers) {
    await shows(question);
    user.write(keys);
  }
  return { code: await ended, output: shown() };
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
    const ran = await asked(t, args, answers);
    t.match([ran.code, ran.output], [code, words]);
  });
}

t.test('a secret that is typed is not shown', async (t) => {
  const secret = `svc_${'0'.repeat(64)}`;
  const ran = await asked(t, ['login', '--with-token'], [[/Token: /, `${secret}\r`]]);
  t.match([ran.code, ran.output], [4, /invalid, expired or revoked/]);
  t.notMatch(ran.output, secret);
});

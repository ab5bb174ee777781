import t, { type Test } from 'tap';
import { pauseMs } from '../../src/cli/values/pace.ts';
import { SOURCE, theCommand } from '../support/service/command.ts';
import { anApiToken } from '../support/service/service.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';
import { aStudio, shown as textOf } from '../support/terminal/recordings.ts';

/** A recording with an hour between its two words, and the command of its owner. */
async function aRecording(t: Test) {
  const { open, pty, record, call, cast, pass, service, ada, address } = await aStudio(t);
  const client = await open();
  const { id } = (await record()).json();
  pty().say('\x1b[?1049h\x1b[6nfirst');
  await client.until(() => client.output().toString().endsWith('first'));
  await pass(3_600_000);
  pty().say('last');
  await client.until(() => client.output().toString().endsWith('last'));
  await call('POST', `/api/recordings/${id}/stop`);
  const { token } = await anApiToken(service, ada);
  return { id, text: textOf(await cast(id)), ...theCommand(t, address.replace('ws', 'http'), token) };
}

t.test('play prints a recording without pauses where nobody watches', async (t) => {
  const { id, text, run } = await aRecording(t);
  t.match(text, /first.*last/s);
  for (const name of ['dev', id])
    t.same(await run(['play', name]), { code: 0, stdout: text, stderr: '' }, name);
  t.match(await run(['play', 'other']), { code: 1, stderr: /berth record ls/ });
  t.match(await run(['play', 'dev', '--speed', '0']), { code: 2, stderr: /greater than 0/ });
});

t.test('an interrupted play restores the terminal', async (t) => {
  const { env, home } = await aRecording(t);
  const options = { cwd: home, env };
  const { user, shows, shown, ended } = onTerminal(t, process.execPath, [SOURCE, 'play', 'dev'], options);
  await shows('first');
  user.write('\x03');
  t.equal(await ended, 130);
  t.ok(shown().includes('\x1b[?1049l'), shown());
  t.notMatch(shown(), /last/);
  t.notOk(shown().includes('\x1b[6n'), 'a query would be answered into the shell');
});

t.test('pauses follow the speed and the limit', (t) => {
  for (const [from, to, speed, idleLimitSeconds, expected] of [
    [1, 3, 1, Number.POSITIVE_INFINITY, 2_000],
    [1, 3, 4, Number.POSITIVE_INFINITY, 500],
    [0, 3_600, 2, 10, 5_000],
    [3, 1, 1, 10, 0],
    [0, 1e9, 1, Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ] as const)
    t.equal(pauseMs(from, to, { speed, idleLimitSeconds }), expected);
  t.end();
});

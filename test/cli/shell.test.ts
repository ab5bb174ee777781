import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import xterm from '@xterm/headless';
import t, { type Test } from 'tap';
import { main } from '../../src/cli/main.ts';
import { leftTerminals } from '../../src/cli/state/left-terminals.ts';
import { Berth } from '../../src/client/index.ts';
import { waitFor } from '../support/patience.ts';
import { cuttingProxy } from '../support/process/lines.ts';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';
import { type FakePty, fakeTerminals, serverOf } from '../support/terminal/terminals.ts';
import { standingTime } from '../support/time.ts';

/** `berth shell dev` in a terminal of its own, over a line that can be cut. */
async function aShell(t: Test, ...args: readonly string[]) {
  const terminals = fakeTerminals();
  const service = await aService({ terminalBackend: terminals });
  const server = new URL(await serverOf(t, service));
  const line = await cuttingProxy(t, server, { everyMs: 100, bytesPerMs: 10_000, isCalm: true });
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  await new Berth({ server: server.origin, token }).create({ name: 'dev' });
  const { env, home, run } = theCommand(t, `http://${line.host}`, token);
  const berth = path.resolve('src/cli/berth.ts');
  const script = `"${process.execPath}" "${berth}" shell dev ${args.join(' ')}; echo "code=$?"; stty -a`;
  const start = () => onTerminal(t, '/bin/sh', ['-c', script], { cwd: home, env });
  const first = start();
  await waitFor(() => terminals.opened.length === 1);
  return { ...first, start, line, run, terminals, pty: terminals.opened[0] as FakePty };
}

const RESTORED = /code=\d+[\s\S]* icanon/;

t.test('every key goes to the shell, and its exit code comes back', async (t) => {
  const { user, shows, pty } = await aShell(t);
  pty.say('$ ');
  await shows('$ ');
  user.write('ls\r\x03\x1a');
  await waitFor(() => pty.typed() === 'ls\r\x03\x1a');
  pty.end();
  await shows(RESTORED);
  await shows('code=0');
});

t.test('a lost line is said, and the shell goes on where it was', async (t) => {
  const { user, shows, pty, line } = await aShell(t);
  pty.say('before ');
  await shows('before ');
  line.begin();
  await shows('connection lost');
  user.write('typed meanwhile');
  pty.say('said meanwhile');
  line.calm();
  await shows('said meanwhile');
  await waitFor(() => pty.typed() === 'typed meanwhile');
  await waitFor(() => pty.redraws() > 0, { what: 'what was said on the screen is drawn over' });
});

t.test('the detach key leaves the shell running, and the terminal as it was', async (t) => {
  const { user, shows, pty } = await aShell(t, '--detach-key', 'ctrl-]');
  pty.say('$ ');
  await shows('$ ');
  user.write('kept\x1d');
  await shows('Left running. Return: berth shell dev');
  await shows(RESTORED);
  t.equal(pty.typed(), 'kept');
  t.notOk(pty.stream.destroyed);
});

t.test('the next shell continues one that was left, with what was typed on a lost line', async (t) => {
  const { user, shows, pty, line, start, terminals } = await aShell(t, '--detach-key', 'ctrl-]');
  pty.say('$ make');
  await shows('$ make');
  line.begin();
  await shows('connection lost');
  user.write('typed on a lost line\x1d');
  await shows(RESTORED);
  line.calm();
  const next = start();
  await next.shows('$ make');
  await waitFor(() => pty.typed() === 'typed on a lost line', { what: () => pty.typed() });
  t.equal(terminals.opened.length, 1);
  next.user.write('\x1d');
  await next.shows(RESTORED);
});

t.test('leaving keeps the cursor below the output', async (t) => {
  const { user, shows, pty, shown } = await aShell(t);
  pty.say('one\r\ntwo\r\nthree');
  await shows('three');
  user.write('\x1c');
  await shows(RESTORED);
  const screen = new xterm.Terminal({ cols: 90, rows: 30, allowProposedApi: true });
  await new Promise<void>((resolve) => screen.write(shown(), resolve));
  const lines = Array.from({ length: 4 }, (_, at) =>
    screen.buffer.active.getLine(at)?.translateToString(true),
  );
  t.match(lines, ['one', 'two', 'three', /Left running/]);
});

t.test('a session beside main says how long it is left running', async (t) => {
  const { user, shows, pty } = await aShell(t, '--session', 'build');
  pty.say('$ ');
  await shows('$ ');
  user.write('\x1c');
  await shows('for a minute. Return: berth shell dev --session build');
});

t.test('without a terminal it says what to use instead', async (t) => {
  const { run } = await aShell(t);
  t.match(await run(['shell', 'dev']), { code: 2, stderr: /berth exec/ });
});

const PLACE = { session: 'main', stream: 's', after: 7, inputOffset: 3 };
const MINUTE_MS = 60_000;

t.test(
  'typed keys are stored only while they may be missing, and any later command removes them',
  async (t) => {
    const time = standingTime(t);
    const env = { XDG_STATE_HOME: t.testdir() };
    const file = path.join(env.XDG_STATE_HOME, 'berth', 'terminals.json');
    const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : null);
    const left = leftTerminals(env);
    left.keep('one', { ...PLACE, input: '' });
    t.notMatch(text(), 'input"');
    t.same(left.take('one'), { ...PLACE, input: '' });
    t.equal(text(), null);
    left.keep('two', { ...PLACE, input: 'c2VjcmV0' });
    time.pass(3 * MINUTE_MS);
    left.keep('three', { ...PLACE, input: '' });
    const none = { write: () => true };
    const aCommand = () => main(['--version'], { env, out: none, err: none } as never);
    await aCommand();
    t.match(text(), 'c2VjcmV0', 'the next shell may still come');
    time.pass(3 * MINUTE_MS);
    await aCommand();
    t.notMatch(text(), 'c2VjcmV0');
    t.match(text(), 'three');
    time.pass(3 * MINUTE_MS);
    await aCommand();
    t.equal(text(), null);
  },
);

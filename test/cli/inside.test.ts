import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import type { Ports } from '../../src/app/main/compose-options.ts';
import { Berth } from '../../src/client/index.ts';
import { waitFor } from '../support/patience.ts';
import { runHere, theCommandOfAda } from '../support/service/command.ts';
import { endless } from '../support/service/streams.ts';

/** A running container `dev`, and the command of its owner. */
async function aScene(t: Test, ports: Partial<Ports> = {}) {
  const command = await theCommandOfAda(t, ports);
  const berth = new Berth({ server: command.server, token: command.token });
  await berth.create({ name: 'dev' });
  return { ...command, berth };
}

t.test('exec passes input, output, options and exit code on', async (t) => {
  const { run } = await aScene(t);
  const cases = [
    [
      ['exec', 'dev', '--', 'echo', '-n', '--json'],
      '',
      { code: 0, stdout: /^-n --json|^--json/, stderr: '' },
    ],
    [['exec', 'dev', '--', 'cat'], 'from here\n', { code: 0, stdout: 'from here\n' }],
    [['exec', '-i', 'dev', '--', 'cat'], 'the same', { code: 0, stdout: 'the same' }],
    [['exec', '-n', 'dev', '--', 'cat'], 'not passed on', { code: 0, stdout: '' }],
    [['exec', 'dev', '--', 'nope'], '', { code: 127, stdout: '', stderr: /not found/ }],
    [['exec', '--timeout', '1s', 'dev', '--', 'sleep', '9'], '', { code: 124 }],
    [['exec', '-e', 'A=x', 'dev', '--', 'printenv', 'A'], '', { code: 0, stdout: 'x\n' }],
    [['exec', '-t', 'dev', '--', 'cat'], '', { code: 2, stderr: /not a terminal/ }],
    [['exec', 'dev', 'false'], '', { code: 1, stdout: '', stderr: '' }],
    [['exec', '-o', 'json', 'dev', '--', 'false'], '', { code: 1, stdout: /"exit_code":1/ }],
    [
      ['exec', '-o', 'json', 'dev', '--', 'cat'],
      'ü',
      { code: 0, stdout: /"stdout":"ü",.*"truncated":false/ },
    ],
    [['exec', 'dve', '--', 'true'], '', { code: 1, stderr: /Did you mean dev/ }],
    [['exec', 'dev'], '', { code: 2, stderr: /missing required argument/ }],
  ] as const;
  for (const [args, input, wanted] of cases) t.match(await run(args, input), wanted, args.join(' '));
  await run(['stop', 'dev']);
  t.match(await run(['exec', 'dev', '--', 'true']), { code: 1, stderr: /berth start/ });
});

t.test('exec passes bytes on as they come, both ways', async (t) => {
  const { start } = await aScene(t);
  const random = randomBytes(1_048_576);
  const copied = start(['exec', 'dev', '--', 'cat'], random);
  t.equal((await copied.ended).code, 0);
  t.ok(copied.bytes().equals(random));
  const open = start(['exec', 'dev', '--', 'cat'], 'open');
  for (const line of ['one\n', 'two\n']) {
    open.input.write(line);
    await waitFor(() => open.stdout().endsWith(line), { what: () => `${line} in ${open.stdout()}` });
  }
  open.input.end();
  t.match(await open.ended, { code: 0, stdout: 'one\ntwo\n' });
});

t.test('exec does not wait for its input when the program has ended', async (t) => {
  const { start } = await aScene(t);
  t.match(await start(['exec', 'dev', '--', 'false'], 'open').ended, { code: 1 });
});

t.test('exec ends its program when the rest of its input cannot be read', async (t) => {
  const { env } = await aScene(t);
  async function* broken() {
    yield Buffer.from('the first half');
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  }
  const ran = await runHere(env, ['exec', 'dev', '--', 'cat'], Readable.from(broken()));
  t.match(ran, { code: 1, stderr: /Could not read the rest of standard input.*EIO/ });
});

t.test('exec gives its program no input where there is nothing to read, as under nohup', async (t) => {
  const { env } = await aScene(t);
  const unreadable = new Readable({
    read() {
      this.destroy(Object.assign(new Error('EBADF: bad file descriptor, read'), { code: 'EBADF' }));
    },
  });
  t.match(await runHere(env, ['exec', 'dev', '--', 'echo', 'done'], unreadable), {
    code: 0,
    stdout: 'done\n',
  });
});

t.test('exec passes a signal on, and ends at the second interrupt', async (t) => {
  const signals: string[] = [];
  const { ports, atWork } = endless();
  const commands: Ports['commands'] = {
    async open(...asked) {
      const running = await ports.commands.open(...asked);
      return { ...running, signal: async (name) => void signals.push(name) };
    },
  };
  const { start } = await aScene(t, { commands });
  const tail = start(['exec', 'dev', '--', 'tail', '-f'], 'open');
  await waitFor(() => tail.stdout() !== '');
  tail.kill('SIGTERM');
  await waitFor(() => signals.length === 1);
  tail.kill('SIGINT');
  await waitFor(() => signals.length === 2);
  tail.kill('SIGINT');
  t.match([(await tail.ended).code, signals], [130, ['TERM', 'INT']]);
  await waitFor(() => atWork() === 0, { what: 'the program ends' });
});

t.test('logs -f goes on until it is ended', async (t) => {
  const { ports, atWork } = endless();
  const { start } = await aScene(t, ports);
  const following = start(['logs', '-f', 'dev']);
  await waitFor(() => following.stdout().split('tick').length > 3);
  following.kill();
  await following.ended;
  await waitFor(() => atWork() === 0);
});

t.test('events are lines, of one container or all', async (t) => {
  const { start, berth } = await aScene(t);
  const other = await berth.create({ name: 'other' });
  const dev = await berth.container('dev');
  const all = start(['events', '-o', 'json']);
  const one = start(['events', 'dev']);
  await waitFor(
    async () => {
      // Only changes after the connection are seen.
      for (const id of [dev.id, other.id]) {
        await berth.containers.stop(id);
        await berth.containers.start(id);
      }
      return one.stdout() !== '' && all.stdout() !== '';
    },
    { everyMs: 200 },
  );
  t.match(one.stdout(), /^\S+ {2}container_(stopped|started) {2}dev {2}(stopped|running)\n/);
  t.notMatch(one.stdout(), /other/);
  t.match(JSON.parse(all.stdout().split('\n')[0] ?? ''), { type: /^container_/, data: { status: /./ } });
});

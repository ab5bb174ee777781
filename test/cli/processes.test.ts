import { Readable } from 'node:stream';
import t from 'tap';
import { Berth } from '../../src/client/index.ts';
import { waitFor } from '../support/patience.ts';
import { runHere, SOURCE, theCommandOfAda } from '../support/service/command.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';

t.test('a process is run, listed, fed, followed and ended by name', async (t) => {
  const { run } = await theCommandOfAda(t);
  await run(['create', 'dev']);
  const started = await run(['run', 'dev', '--name', 'copy', '--stdin', '--', 'cat', '-u']);
  t.match(started, { code: 0, stdout: '', stderr: /copy is running.*berth attach dev copy/ });
  t.match(await run(['ps', 'dev']), { code: 0, stdout: /^ID .*\n\S+ +copy +running +\d+ .*cat -u\n$/ });
  const attached = await run(['attach', 'dev', 'copy', '--stdin'], 'grüße\n');
  t.match(attached, { code: 0, stdout: 'grüße\n', stderr: '' });
  t.match(await run(['ps', 'dev']), { stdout: '', stderr: /No processes/ });
  t.match(await run(['ps', 'dev', '--all']), { stdout: /copy +exit 0/ });
  t.match(await run(['attach', 'dev', 'copy', '--no-follow']), { code: 0, stdout: 'grüße\n' });
  await run(['run', 'dev', '--', 'sleep', '3600']);
  t.match(await run(['kill', 'dev', 'sleep', '-s', 'INT']), { code: 0, stderr: /sent SIGINT/ });
  t.match(await run(['attach', 'dev', 'sleep']), { code: 130 }, 'ends as the program did');
  await run(['run', 'dev', '--name', 'other', '--', 'sleep', '3600']);
  t.match(await run(['kill', 'dev', 'other']), { code: 0, stderr: 'other has ended.\n' });
  t.match(await run(['attach', 'dev', 'web']), { code: 1, stderr: /no process "web"/ });
  t.match(await run(['run', 'dev']), { code: 2 }, 'without a command');
});

t.test(
  'attach ends when its input cannot be read on, and leaves the input of the process open',
  async (t) => {
    const { run, env } = await theCommandOfAda(t);
    await run(['create', 'dev']);
    await run(['run', 'dev', '--name', 'copy', '--stdin', '--', 'cat', '-u']);
    async function* broken() {
      yield Buffer.from('the first half\n');
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    }
    const attached = await runHere(env, ['attach', 'dev', 'copy', '--stdin'], Readable.from(broken()));
    t.match(attached, { code: 1, stderr: /Could not read the rest of standard input.*EIO/ });
    t.match(await run(['ps', 'dev']), { stdout: /copy +running/ });
    await run(['kill', 'dev', 'copy']);
  },
);

t.test('attach shows all output of a process that takes no more input, and ends as it did', async (t) => {
  const { run, env, server, token } = await theCommandOfAda(t);
  await run(['create', 'dev']);
  await run(['run', 'dev', '--name', 'job', '--stdin', '--', 'head', '-c', '900000']);
  await waitFor(async () => /job +exit 0/.test((await run(['ps', 'dev', '--all'])).stdout));
  const attached = await run(['attach', 'dev', 'job', '--stdin'], 'too late');
  t.match(attached, { code: 0, stderr: '' });
  t.equal(attached.stdout.length, 900_000);
  await run(['run', 'dev', '--name', 'deaf', '--stdin', '--', 'sleep', '3600']);
  const deaf = await (await new Berth({ server, token }).container('dev')).processes.get('deaf');
  await deaf.closeInput();
  let isLeft = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.from('more');
    } finally {
      isLeft = true;
    }
  }
  const ended = runHere(env, ['attach', 'dev', 'deaf', '--stdin'], Readable.from(endless()));
  await waitFor(() => isLeft);
  await deaf.signal('INT');
  t.match(await ended, { code: 130, stderr: /takes no more input/ });
});

t.test('a process in a terminal is attached to, left and returned to', async (t) => {
  const { run, env, home } = await theCommandOfAda(t);
  await run(['create', 'dev']);
  const inTerminal = (...args: readonly string[]) =>
    onTerminal(t, process.execPath, [SOURCE, ...args], { cwd: home, env });
  const first = inTerminal('run', '-t', 'dev', '--', 'cat');
  // A terminal that is not raw yet would echo it itself.
  await waitFor(async () => /cat +running/.test((await run(['ps', 'dev'])).stdout));
  first.user.write('typed ');
  await first.shows('typed typed ');
  first.user.write('\x1c');
  await first.shows('Return: berth attach dev cat');
  t.equal(await first.ended, 0);
  const again = inTerminal('attach', 'dev', 'cat');
  await again.shows('typed typed ');
  await run(['kill', 'dev', 'cat']);
  t.equal(await again.ended, 143);
  t.match(await run(['run', '-t', 'dev', '--', 'cat']), { code: 2, stderr: /not a terminal/ });
});

import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';

t.test('a process is run, listed, fed, followed and ended by name', async (t) => {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const { run } = theCommand(t, address, token);
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

t.test('a process in a terminal is attached to, left and returned to', async (t) => {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const { run, env, home } = theCommand(t, address, token);
  await run(['create', 'dev']);
  const inTerminal = (...args: readonly string[]) => {
    const words = [path.resolve('src/cli/berth.ts'), ...args];
    const user = spawn(process.execPath, words, { cols: 90, rows: 30, cwd: home, env });
    let shown = '';
    let code: number | null = null;
    user.onData((text) => {
      shown += text;
    });
    user.onExit(({ exitCode }) => {
      code = exitCode;
    });
    t.teardown(() => user.kill());
    const shows = (text: string) =>
      waitFor(() => shown.includes(text), { what: () => `${text} in ${shown}` });
    const ends = (wanted: number) => waitFor(() => code === wanted, { what: () => `${code}: ${shown}` });
    return { user, shows, ends };
  };
  const first = inTerminal('run', '-t', 'dev', '--', 'cat');
  // A terminal that is not raw yet would echo it itself.
  await waitFor(async () => /cat +running/.test((await run(['ps', 'dev'])).stdout));
  first.user.write('typed ');
  await first.shows('typed typed ');
  first.user.write('\x1c');
  await first.shows('Return: berth attach dev cat');
  await first.ends(0);
  const again = inTerminal('attach', 'dev', 'cat');
  await again.shows('typed typed ');
  await run(['kill', 'dev', 'cat']);
  await again.ends(143);
  t.match(await run(['run', '-t', 'dev', '--', 'cat']), { code: 2, stderr: /not a terminal/ });
});

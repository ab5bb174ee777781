import t, { type Test } from 'tap';
import { Berth } from '../../src/client/index.ts';
import { waitFor } from '../support/patience.ts';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';
import { endless } from '../support/service/streams.ts';
import { listening } from '../support/terminal/terminals.ts';

/** A running container `dev`, and the command of its owner. */
async function aScene(t: Test, ports: Parameters<typeof aService>[0] = {}) {
  const service = await aService(ports);
  const server = (await listening(t, service)).replace('ws', 'http');
  const { token } = await anApiToken(service, await aPerson(service, 'ada'));
  const berth = new Berth({ server, token });
  await berth.create({ name: 'dev' });
  return { ...theCommand(t, server, token), berth };
}

t.test('exec passes input, output, options and exit code on', async (t) => {
  const { run } = await aScene(t);
  const cases = [
    [
      ['exec', 'dev', '--', 'echo', '-n', '--json'],
      '',
      { code: 0, stdout: /^-n --json|^--json/, stderr: '' },
    ],
    [['exec', '-i', 'dev', '--', 'cat'], 'from here\n', { code: 0, stdout: 'from here\n' }],
    [['exec', 'dev', '--', 'cat'], 'not passed on', { code: 0, stdout: '' }],
    [['exec', 'dev', 'false'], '', { code: 1, stdout: '', stderr: '' }],
    [['exec', '-o', 'json', 'dev', '--', 'false'], '', { code: 1, stdout: /"exit_code":1/ }],
    [['exec', 'dve', '--', 'true'], '', { code: 1, stderr: /Did you mean dev/ }],
    [['exec', 'dev'], '', { code: 2, stderr: /missing required argument/ }],
  ] as const;
  for (const [args, input, wanted] of cases) t.match(await run(args, input), wanted, args.join(' '));
  await run(['stop', 'dev']);
  t.match(await run(['exec', 'dev', '--', 'true']), { code: 1, stderr: /berth start/ });
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

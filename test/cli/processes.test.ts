import t from 'tap';
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

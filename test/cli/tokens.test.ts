import t from 'tap';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService, as } from '../support/service/service.ts';

t.test('a derived token reaches its container and nothing else', async (t) => {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
  for (const name of ['dev', 'other']) await as(service, ada)('POST', '/api/containers', { name, ...small });
  const parent = theCommand(t, address, (await anApiToken(service, ada)).token);
  const made = await parent.run([
    'tokens',
    'derive',
    'job',
    '--container',
    'dev',
    '--expires',
    '30m',
    '--uses',
    '9',
  ]);
  t.match(made, { code: 0, stdout: /^svc_[0-9a-f]{64}\n$/, stderr: /not shown again/ });
  const child = theCommand(t, address, made.stdout.trim());
  t.match(await child.run(['ls', '-o', 'name']), { code: 0, stdout: 'dev\n' });
  t.match(await child.run(['create', 'more']), { code: 1, stderr: /only for some containers/ });
  t.match(await parent.run(['tokens', 'derive', 'x', '--uses', 'many']), { code: 2 });
  t.match(await parent.run(['tokens', 'derive', 'x', '--container', 'none']), {
    code: 1,
    stderr: /containers must be/,
  });
  const listed = await theCommand(t, address, ada.token).run(['tokens', 'ls']);
  t.match(listed.stdout, /job +svc_.* 1 container, \d uses left/);
});

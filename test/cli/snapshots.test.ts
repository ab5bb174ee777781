import t from 'tap';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';

t.test('snapshots are taken, listed, used and deleted, and containers are forked', async (t) => {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = theCommand(t, address, (await anApiToken(service, await aPerson(service, 'ada'))).token);
  await ada.run(['create', 'dev']);
  const taken = await ada.run(['snapshots', 'create', 'dev', 'base', '--note', 'clean', '--label', 'a=b']);
  t.match(taken, { code: 0, stderr: /base is taken.*--snapshot base/ });
  const listed = await ada.run(['snapshots', 'ls', '--container', 'dev']);
  t.match(listed.stdout, /NAME +OF .*\nbase +dev +ready .* clean/);
  t.match(await ada.run(['snapshots', 'create', 'dev', 'base']), {
    code: 1,
    stderr: /already have a snapshot/,
  });
  const made = await ada.run(['create', 'again', '--snapshot', 'base']);
  t.match(made, { code: 0, stderr: /again is running/ });
  t.match(await ada.run(['create', 'x', '--snapshot', 'none']), { code: 1, stderr: /no snapshot "none"/ });
  const forks = await ada.run(['fork', 'dev', 'try', '--count', '2', '--ephemeral', '-o', 'name']);
  t.match(forks, { code: 0, stdout: 'try-1\ntry-2\n' });
  t.match(await ada.run(['fork', 'dev', '--count', '9']), { code: 2, stderr: /1 to 8/ });
  t.match(await ada.run(['snapshots', 'rm', 'base', '-y']), { code: 0, stderr: /base is deleted/ });
  t.match(await ada.run(['snapshots', 'ls']), { code: 0, stderr: /No snapshots/ });
  t.match(await ada.run(['snapshots', 'ls', '--deleted']), { code: 0, stdout: /base/ });
  t.match(await ada.run(['snapshots', 'restore', 'base', '--name', 'again']), {
    code: 0,
    stderr: /again is restored/,
  });
  t.match(await ada.run(['snapshots', 'ls']), { code: 0, stdout: /again/ });
  t.match(await ada.run(['snapshots', 'rm', 'again', '-y']), { code: 0 });
});

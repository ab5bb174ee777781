import t from 'tap';
import { theCommand } from '../support/service/command.ts';
import { aServiceInTime, from, logIn } from '../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as, person, statusOf } from '../support/service/service.ts';

t.test('an administrator invites, changes, resets and deletes users', async (t) => {
  const service = await aServiceInTime();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const root = await anAdmin(service);
  const { run } = theCommand(t, address, root.token);
  const admin = (...args: readonly string[]) => run(['admin', ...args]);

  const invited = await admin('invite', '--tier', 'pro', '--email', 'ada@example.org', '--expires', '90m');
  t.match(invited, { code: 0, stdout: /^http.*\/invite#code=[\w-]{43}\n$/, stderr: /not shown again/ });
  t.match((await admin('invitations', 'ls')).stdout, /ada@example\.org +user +pro +open, ends .* +root/);
  const code = invited.stdout.trim().split('#code=')[1];
  const accept = (name: string) => from(service)('/api/auth/invitations/accept', { code, ...person(name) });
  t.equal((await accept('ada')).statusCode, 201);
  const unwanted = await admin('invite', '--username', 'eve');
  t.match(await admin('invitations', 'rm', 'eve'), { code: 0, stderr: /withdrawn/ });
  t.match(await admin('invitations', 'rm', 'eve'), { code: 1, stderr: /no invitation "eve"/ });
  t.equal((await accept(unwanted.stdout)).statusCode, 400);

  const made = await admin('users', 'create', 'bob', 'bob@example.org', '-o', 'json');
  t.match(JSON.parse(made.stdout), { user: { username: 'bob' }, link: { url: /#code=/ } });
  t.match((await admin('users', 'ls')).stdout, /bob .* 0\/5 .* has no password yet/);
  const off = await admin('users', 'disable', 'ada', '--reason', 'on leave');
  t.match(off, { code: 0, stderr: 'ada is disabled.\n' });
  t.match((await logIn(service, 'ada')).json(), { code: 'account_disabled', reason: 'on leave' });
  t.match(
    (await run(['audit', '--user', 'root'])).stdout,
    /root +\S+ +Disabled (ada|user \w{8}) +user_updated/,
  );
  await admin('users', 'enable', 'ada');
  t.equal((await logIn(service, 'ada')).statusCode, 200);
  const link = await admin('users', 'reset-password', 'ada');
  t.match(link, { code: 0, stdout: /\/reset#code=/ });
  t.match((await admin('reset-links', 'ls')).stdout, /ada +password +open/);
  t.match(await admin('reset-links', 'rm', 'ada'), { code: 0 });
  t.match(await admin('users', 'reset-second-factor', 'ada'), { code: 1, stderr: /no second factor/ });
  t.match(await admin('users', 'set', 'ada', '--role', 'admin'), { code: 0, stderr: 'ada is changed.\n' });
  t.match(await admin('users', 'set', 'ada'), { code: 2 });

  const cyd = await aPerson(service, 'cyd');
  await as(service, cyd)('POST', '/api/containers', { name: 'dev' });
  const machine = await admin('capacity');
  t.match(machine.stdout, /cpu +8 CPU +1 CPU +0 CPU +\d/);
  t.match(machine.stdout, /running containers +1/);
  t.match(JSON.parse((await admin('capacity', '-o', 'json')).stdout), {
    nodes: [{ containers: { running: 1 } }],
  });
  t.match((await admin('usage', '--sort', 'memory')).stdout, /cyd +1\/5 +1 +0 CPU of /);
  t.match(await admin('usage', '--sort', 'colour'), { code: 2 });
  const { run: asCyd } = theCommand(t, address, cyd.token);
  t.match((await asCyd(['audit'])).stdout, / Created dev +container_created/);
  const needed = await admin('users', 'rm', 'cyd', '--yes');
  t.match(needed, { code: 1, stderr: /--containers delete/ });
  t.match(await admin('users', 'rm', 'cyd', '--containers', 'transfer', '--yes'), { code: 2 });
  t.equal(await statusOf(service, cyd), 200);
  const given = await admin('users', 'rm', 'cyd', '--containers', 'transfer', '--to', 'bob', '--yes');
  t.match(given, { code: 0, stderr: /cyd is deleted/ });

  const byToken = theCommand(t, address, (await anApiToken(service, root, { scopes: ['admin'] })).token);
  t.match(await byToken.run(['admin', 'invite', '--role', 'admin']), {
    stderr: /an API token is not enough/,
  });
  service.clock.advance(16 * 60_000);
  const renewed = await service.http.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    cookies: { berth_refresh: root.cookie },
  });
  const later = theCommand(t, address, renewed.json().token);
  t.match(await later.run(['admin', 'invite', '--role', 'admin']), { code: 1, stderr: /berth login/ });
});

t.test('an administrator lists, stops, deletes, restores and gives away containers of users', async (t) => {
  const service = await aServiceInTime();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const { token } = await anAdmin(service);
  for (const name of ['ada', 'bob']) {
    const who = await aPerson(service, name);
    for (const box of ['dev', `of-${name}`]) await as(service, who)('POST', '/api/containers', { name: box });
  }
  const { run } = theCommand(t, address, token);
  const boxes = (...args: readonly string[]) => run(['admin', 'containers', ...args]);

  t.match((await boxes('ls')).stdout, /^OWNER.*\nada +dev .*\nada +of-ada .*\nbob +dev .*\nbob +of-bob /i);
  const ids = (await boxes('ls', '--owner', 'ada', '--search', 'dev', '-o', 'name')).stdout.trim();
  t.match(ids, /^[0-9a-f-]{36}$/);
  t.match(await boxes('stop', 'dev'), { code: 1, stderr: /Several containers are called "dev"/ });
  t.match(await boxes('stop', 'ada/dev'), { code: 0, stderr: 'dev of ada is stopped.\n' });
  t.equal((await boxes('ls', '--status', 'stopped', '-o', 'name')).stdout.trim(), ids);
  t.match(await boxes('rm', ids.slice(0, 8)), { code: 2 }, 'a program must say --yes');
  t.match(await boxes('rm', ids, '--yes'), { code: 0, stderr: /dev of ada is deleted/ });
  t.match((await boxes('ls', '--deleted')).stdout, /ada +dev /);
  t.match(await boxes('restore', 'ada/dev'), { code: 0, stderr: 'dev of ada is restored.\n' });
  t.match(await boxes('give', 'ada/dev'), { code: 2, stderr: /--to/ });
  t.match(await boxes('give', 'ada/dev', '--to', 'bob', '--yes'), { code: 1, stderr: /in use by bob/ });
  const given = await boxes('give', 'ada/dev', '--to', 'bob', '--name', 'dev-2', '--yes');
  t.match(given, { code: 0, stderr: 'dev-2 belongs to bob.\n' });
  t.match((await boxes('ls', '--owner', 'bob')).stdout, /bob +dev-2 +stopped/);
  t.match((await run(['audit', '--user', 'root'])).stdout, /Gave dev-2 of ada to bob/);
});

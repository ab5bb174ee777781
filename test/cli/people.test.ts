import t from 'tap';
import { SOURCE, theCommand } from '../support/service/command.ts';
import { aServiceInTime, from, logIn } from '../support/service/factors.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  as,
  person,
  refresh,
  stateOf,
  statusOf,
} from '../support/service/service.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';
import { serverOf } from '../support/terminal/terminals.ts';

t.test('an administrator invites, changes, resets and deletes users', async (t) => {
  const service = await aServiceInTime();
  const server = await serverOf(t, service);
  const root = await anAdmin(service);
  const { run } = theCommand(t, server, root.token);
  const admin = (...args: readonly string[]) => run(['admin', ...args]);

  const invited = await admin('invite', '--tier', 'pro', '--email', 'ada@example.org', '--expires', '90m');
  t.match(invited, { code: 0, stdout: /^http.*\/invite#code=[\w-]{43}\n$/, stderr: /not shown again/ });
  t.match((await admin('invitations', 'ls')).stdout, /ada@example\.org +user +pro +open, ends .* +root/);
  const code = invited.stdout.trim().split('#code=')[1];
  const accept = (name: string) => from(service)('/api/auth/invitations/accept', { code, ...person(name) });
  t.equal((await accept('ada')).statusCode, 201);
  t.notMatch((await admin('invitations', 'ls', '--open')).stdout, /ada@example/);
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
  t.match((await admin('reset-links', 'ls', '--open')).stdout, /ada +password +open/);
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
  const { run: asCyd } = theCommand(t, server, cyd.token);
  t.match(await asCyd(['ls', '--sort', 'memory', '-o', 'name']), { code: 0, stdout: 'dev\n' });
  t.match(await asCyd(['ls', '--sort', 'colour']), { code: 2 });
  t.match((await asCyd(['audit'])).stdout, / Created dev +container_created/);
  const needed = await admin('users', 'rm', 'cyd', '--yes');
  t.match(needed, { code: 1, stderr: /--containers delete/ });
  t.match(await admin('users', 'rm', 'cyd', '--containers', 'transfer', '--yes'), { code: 2 });
  t.equal(await statusOf(service, cyd), 200);
  const given = await admin('users', 'rm', 'cyd', '--containers', 'transfer', '--to', 'bob', '--yes');
  t.match(given, { code: 0, stderr: /cyd is deleted/ });

  const byToken = theCommand(t, server, (await anApiToken(service, root, { scopes: ['admin'] })).token);
  t.match(await byToken.run(['admin', 'invite', '--role', 'admin']), {
    stderr: /an API token is not enough/,
  });
  service.clock.advance(16 * 60_000);
  const renewed = await refresh(service, root);
  const later = theCommand(t, server, renewed.json().token);
  t.match(await later.run(['admin', 'invite', '--role', 'admin']), { code: 1, stderr: /berth login/ });
});

t.test('nobody is asked for a password that the account does not have', async (t) => {
  const service = await aServiceInTime();
  const server = await serverOf(t, service);
  const root = await anAdmin(service);
  for (const one of stateOf(service).users) Object.assign(one, { passwordHash: null });
  service.clock.advance(16 * 60_000);
  const { env, home } = theCommand(t, server, (await refresh(service, root)).json().token);
  const args = [SOURCE, 'admin', 'invite', '--role', 'admin'];
  const { ended, shown } = onTerminal(t, process.execPath, args, { cwd: home, env });
  t.equal(await ended, 1);
  t.match(shown(), /has no password[\s\S]*berth login/);
});

t.test('settings of each kind are changed', async (t) => {
  const service = await aServiceInTime();
  const { run } = theCommand(t, await serverOf(t, service), (await anAdmin(service)).token);
  const set = (...given: readonly string[]) => run(['admin', 'settings', 'set', ...given]);
  const given = ['oidc_tier=pro', 'guests_enabled=true', 'history_days=40'];
  t.match(await set(...given), { code: 0 });
  const read = JSON.parse((await run(['admin', 'settings', 'ls', '-o', 'json'])).stdout);
  t.match(read, { oidc_tier: 'pro', guests_enabled: true, history_days: 40 });
  for (const wrong of ['oidc_tier=', 'guests_enabled=1', 'history_days=many', 'oidc_tire=pro'])
    t.match(await set(wrong), { code: /[12]/, stdout: '' }, wrong);
});

t.test('a username that is the id of another user, or its start, never passes for that user', async (t) => {
  const service = await aServiceInTime();
  const server = await serverOf(t, service);
  const { run } = theCommand(t, server, (await anAdmin(service)).token);
  const bob = await aPerson(service, 'bob');
  await aPerson(service, 'eve');
  const { state } = service.ports.storage as unknown as { state: { users: { username: string }[] } };
  const eve = state.users.find(({ username }) => username === 'eve');
  const call = (username: string) => Object.assign(eve ?? {}, { username });

  call(bob.id);
  t.match(await run(['admin', 'users', 'disable', bob.id]), { code: 0, stderr: 'bob is disabled.\n' });
  call(bob.id.slice(0, 8));
  t.match(await run(['admin', 'users', 'enable', bob.id.slice(0, 8)]), { code: 1, stderr: /Several users/ });
});

t.test('an administrator lists, stops, deletes, restores and gives away containers of users', async (t) => {
  const service = await aServiceInTime();
  const server = await serverOf(t, service);
  const { token } = await anAdmin(service);
  for (const name of ['ada', 'bob']) {
    const who = await aPerson(service, name);
    for (const box of ['dev', `of-${name}`]) await as(service, who)('POST', '/api/containers', { name: box });
  }
  const { run } = theCommand(t, server, token);
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
  await boxes('rm', 'of-ada', '--yes');
  const done = (await run(['audit', '--all', '--action', 'container_created'])).stdout;
  for (const name of ['dev-2', 'of-ada', 'of-bob']) t.match(done, `Created ${name} `, 'also a deleted one');
});

t.test('an administrator makes, changes and deletes announcements', async (t) => {
  const service = await aServiceInTime();
  const server = await serverOf(t, service);
  const { token } = await anAdmin(service);
  const { run } = theCommand(t, server, token);
  const admin = (...args: readonly string[]) => run(['admin', 'announcements', ...args]);
  const shown = async () => JSON.parse((await admin('ls', '-o', 'json')).stdout)[0];

  const made = await admin('add', 'Berth restarts at 22:00.', '--for', '6h', '-o', 'name');
  const id = made.stdout.trim();
  t.match(made, { code: 0, stderr: /shown to everybody/ });
  const before = await shown();
  const changed = await admin('edit', id.slice(0, 8), '--text', 'At 23:00.', '--severity', 'warning');
  t.match(changed, { code: 0, stderr: /The announcement is changed/ });
  const { starts_at, ends_at } = before;
  t.match(await shown(), { id, text: 'At 23:00.', severity: 'warning', starts_at, ends_at });
  await admin('edit', id, '--in', '2h', '--for', '1h');
  const later = await shown();
  t.match(later, { state: 'scheduled', text: 'At 23:00.' });
  t.equal(Date.parse(later.ends_at) - Date.parse(later.starts_at), 3_600_000);
  await admin('edit', id, '--for', '3h');
  const longer = await shown();
  t.equal(Date.parse(longer.ends_at) - Date.parse(longer.starts_at), 10_800_000, 'from when it appears');
  await admin('edit', id, '--no-end');
  t.match(await shown(), { ends_at: null });
  t.match(await admin('edit', id), { code: 2, stderr: /Give what changes/ });
  t.match(await admin('edit', id, '--for', '1h', '--no-end'), { code: 2 });
  t.match(await admin('edit', 'ffff', '--text', 'x'), { code: 1, stderr: /no announcement "ffff"/ });
  t.match((await run(['audit'])).stdout, /Changed the announcement At 23:00\./);
  t.match(await admin('rm', id), { code: 0 });
});

import { once } from 'node:events';
import { lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { renew } from '../../src/cli/profiles/auth-calls.ts';
import { fileDraft } from '../../src/cli/state/file-draft.ts';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import { answerLosingProxy } from '../support/process/answer-losing-proxy.ts';
import { SOURCE, theCommand } from '../support/service/command.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import { aPerson, stateOf } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

const PAST_GRACE_MS = 60_000;

/** Ada's session in the file of the command. Her login token has expired. */
async function aScene(t: Test) {
  const service = await aServiceInTime();
  const proxy = await answerLosingProxy(t, await serverOf(t, service));
  const { token, cookie } = await aPerson(service, 'ada');
  const command = theCommand(t, null);
  const file = path.join(command.home, 'config', 'berth', 'hosts.json');
  const expires_at = new Date(0).toISOString();
  const credential = { kind: 'session', token, expires_at, refresh_token: cookie };
  const profiles = { one: { server: proxy.origin, username: 'ada', credential } };
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ current: 'one', profiles }));
  const saved = () => JSON.parse(readFileSync(file, 'utf8')).profiles.one.credential.refresh_token;
  return { ...command, service, proxy, file, saved, cookie };
}

t.test('a renewal whose answers are lost is repeated, and the session goes on', async (t) => {
  const { run, proxy, service } = await aScene(t);
  proxy.lose(2);
  t.match(await run(['whoami', '-o', 'name']), { code: 0, stdout: 'ada\n' });
  t.equal(proxy.lost(), 2);
  service.clock.advance(PAST_GRACE_MS);
  t.match(await run(['whoami', '-o', 'name']), { code: 0, stdout: 'ada\n' });
});

t.test('an interrupted command saves the session that it renews', async (t) => {
  const { start, run, proxy, service, saved, cookie } = await aScene(t);
  proxy.lose(2);
  const interrupted = start(['whoami']);
  await waitFor(() => proxy.lost() === 1);
  interrupted.kill('SIGINT');
  t.match(await interrupted.ended, { code: 130, stdout: '' });
  t.not(saved(), cookie);
  service.clock.advance(PAST_GRACE_MS);
  t.match(await run(['whoami', '-o', 'name']), { code: 0, stdout: 'ada\n' });
});

t.test('a command that is interrupted during the renewal makes no change', async (t) => {
  const { start, proxy, service } = await aScene(t);
  proxy.lose(2);
  const interrupted = start(['tokens', 'create', 'late']);
  await waitFor(() => proxy.lost() === 1);
  interrupted.kill('SIGINT');
  t.match(await interrupted.ended, { code: 130, stdout: '' });
  t.same(stateOf(service).apiTokens, []);
});

t.test('a session that the file has no room for is not renewed', async (t) => {
  const { home, env, run, service, saved, cookie } = await aScene(t);
  const small = path.join(home, 'small.sh');
  writeFileSync(small, `ulimit -f 2\nexec ${process.execPath} ${SOURCE} "$@"\n`);
  const limited = theCommand(t, null, undefined, small, '/bin/sh');
  Object.assign(limited.env, env);
  t.match(await limited.run(['whoami']), { code: 1, stderr: /hosts\.json cannot be written/ });
  t.equal(saved(), cookie);
  service.clock.advance(PAST_GRACE_MS);
  t.match(await run(['whoami']), { code: 0 });
  t.not(saved(), cookie);
});

t.test('the file that a link names is made, and the link stays', async (t) => {
  const home = aFolder(t);
  const [link, file] = [path.join(home, 'link'), path.join(home, 'file')];
  symlinkSync('file', link);
  fileDraft(link).replaceBy('new');
  t.ok(lstatSync(link).isSymbolicLink());
  t.equal(readFileSync(file, 'utf8'), 'new');
});

t.test('a renewal ends though the server never answers', async (t) => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  await t.rejects(renew(`http://127.0.0.1:${port}`, 'any'), { name: 'BerthError' });
});

t.test('a renewal replaces the file that a link names, and not the link', async (t) => {
  const { home, file, run, saved, cookie } = await aScene(t);
  renameSync(file, path.join(home, 'mine.json'));
  symlinkSync(path.join(home, 'mine.json'), file);
  t.match(await run(['whoami']), { code: 0 });
  t.ok(lstatSync(file).isSymbolicLink());
  t.not(saved(), cookie);
});

import { statSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService } from '../support/service/service.ts';

async function aScene(t: Test) {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  return { service, address, ada, ...(await anApiToken(service, ada)) };
}

t.test('an API token is read from standard input, kept for its owner alone, and never shown', async (t) => {
  const { address, token } = await aScene(t);
  const { home, run } = theCommand(t, null);
  const signedIn = await run(['login', '--server', address, '--with-token'], `${token}\n`);
  t.match(signedIn, { code: 0, stderr: /Signed in to .* as ada/ });
  const file = path.join(home, 'config', 'berth', 'hosts.json');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  const me = await run(['whoami', '-o', 'json']);
  t.match(JSON.parse(me.stdout), { username: 'ada', server: address });
  const refused = await run(['tokens', 'ls']);
  t.match(refused, { code: 4, stderr: /needs a sign-in/ });
  const out = await run(['logout']);
  t.match(await run(['whoami']), { code: 4 });
  for (const { stdout, stderr } of [signedIn, me, refused, out]) t.notMatch(stdout + stderr, token);
});

t.test("a server's credential goes to no other server", async (t) => {
  const one = await aScene(t);
  const other = await aScene(t);
  const { run } = theCommand(t, null);
  await run(['login', '--server', one.address, '--with-token'], one.token);
  t.match(await run(['ls', '--server', other.address]), { code: 4 }, 'not signed in there');
  await run(['login', '--server', other.address, '--with-token', '--profile', 'second'], other.token);
  for (const [args, address] of [
    [[], other.address],
    [['--server', one.address], one.address],
    [['--profile', 'second'], other.address],
  ] as const) {
    const { stdout, stderr } = await run(['whoami', '-o', 'json', ...args]);
    t.match(JSON.parse(stdout || '{}'), { server: address }, stderr);
  }
  t.match(await run(['ls', '--profile', 'third']), { code: 2, stderr: /no profile "third"/ });
});

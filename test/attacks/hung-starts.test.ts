import t, { type Test } from 'tap';
import { engineCalls } from '../../src/adapters/docker/client.ts';
import { isRoot } from '../../src/adapters/docker/host.ts';
import { killFromHost } from '../../src/adapters/docker/host-kill.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { eventually } from '../support/process/fault-scene.ts';
import { aPerson, aService, as, type Person } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { listening, openTerminal } from '../support/terminal/terminals.ts';

/** So many starts in one container are under way at a time. */
const STARTED = 3;
const WAITING = 21;
const LIMITS = { memory_mb: 256, cpu_shares: 500, disk_mb: 512 };

/** Stops whatever the engine starts in its container, by the numbers that its processes will have, before it becomes the program. */
const HANG = `hang() {
  last=$(sh -c 'echo $$'); more=1
  while [ $more -le 300 ]; do set -- "$@" $((last + more)); more=$((more + 1)); done
  while :; do kill -STOP "$@"; done
}
hang </dev/null >/dev/null 2>&1 &`;

const engine = await engineOrSkip(t);
if (engine !== null && !(engine.isLocal && isRoot())) {
  t.pass('hung starts', { skip: 'what hangs can be killed by root of the same machine alone' });
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('a container in which nothing starts holds up nobody else', (t) => hungStarts(t, instance));
}

async function hungStarts(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, terminals: terminalBackend, commands, files, insight } = instance;
  const { slots } = engineCalls(instance.docker);
  const ports = { runtime, terminalBackend, commands, files, insight, runtimeNode: 'test' };
  const service = await aService(ports);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const address = await listening(t, service);
  const made = async (who: Person, name: string) =>
    (await as(service, who)('POST', '/api/containers', { name, ...LIMITS })).json();
  const [hung, fine, bobs] = [await made(ada, 'hung'), await made(ada, 'fine'), await made(bob, 'dev')];
  // The engine can not remove it.
  t.teardown(() => killFromHost(hung.id));
  const run = (who: Person, { db_id }: { db_id: string }, command: string[], headers = {}) =>
    as(service, who)('POST', `/api/containers/${db_id}/exec`, { command, timeout_seconds: 20 }, headers);
  t.equal((await run(ada, hung, ['sh', '-c', HANG])).json().exit_code, 0);

  const stuck = Array.from({ length: STARTED }, () => run(ada, hung, ['true']));
  t.ok(await eventually(async () => slots.isSuspect(hung.id), Boolean));
  let answered = 0;
  const attack = Array.from({ length: WAITING }, async () => {
    const { statusCode, headers, ...answer } = await run(ada, hung, ['true']);
    answered += 1;
    return { statusCode, code: answer.json().code, retryAfter: headers['retry-after'] };
  });
  const waiting = () => STARTED + WAITING - answered;

  t.equal((await run(bob, bobs, ['true'])).json().exit_code, 0, "another user's command");
  t.equal((await run(ada, fine, ['true'])).json().exit_code, 0, 'a command in the other container');
  const shell = await terminalClient(
    { address, dbId: bobs.db_id, token: bob.token },
    {},
    { patienceMs: 60_000 },
  );
  t.equal((await made(bob, 'second')).status, 'running', 'a new container');
  t.ok(waiting() > 0, `${waiting()} commands wait meanwhile`);
  shell.socket.close(1000);

  const refused = await openTerminal(address, hung.db_id, ada);
  t.same(await refused.closed(), [4015, 'container unresponsive']);
  for (const one of await Promise.all(attack))
    t.same(one, { statusCode: 503, code: 'container_unresponsive', retryAfter: 5 });

  if (instance.kind !== 'private') {
    t.comment('an engine of others is left to them');
    await Promise.all(stuck);
    return;
  }
  const stopped = await as(service, ada)('POST', `/api/containers/${hung.db_id}/stop`);
  t.match([stopped.statusCode, stopped.json().status], [200, 'stopped']);
  await Promise.all(stuck);
  t.equal((await as(service, ada)('POST', `/api/containers/${hung.db_id}/start`)).json().status, 'running');
  t.equal((await run(ada, hung, ['true'])).json().exit_code, 0, 'it works');
  t.equal((await run(ada, hung, ['sh', '-c', HANG])).json().exit_code, 0);
  const late = Array.from({ length: 6 }, () => run(ada, hung, ['true']));
  t.ok(await eventually(async () => slots.isSuspect(hung.id), Boolean));
  const restarted = await instance.restarted();
  t.equal(
    await restarted.endHung({ node: 'test', runtimeId: fine.id }),
    false,
    'one that answers is left alone',
  );
  t.equal(
    await restarted.endHung({ node: 'test', runtimeId: hung.id }),
    true,
    'nothing is known of a late start',
  );
  await Promise.all(late);
  t.equal((await as(service, ada)('POST', `/api/containers/${hung.db_id}/start`)).json().status, 'running');
  t.equal((await run(ada, hung, ['sh', '-c', HANG])).json().exit_code, 0);
  const last = Array.from({ length: 6 }, () => run(ada, hung, ['true']));
  t.ok(await eventually(async () => slots.isSuspect(hung.id), Boolean));
  const deleted = await as(service, ada)('DELETE', `/api/containers/${hung.db_id}`);
  t.equal(deleted.statusCode, 200, 'one that hangs can be deleted');
  await Promise.all(last);
}

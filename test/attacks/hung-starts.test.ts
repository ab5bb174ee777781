import t, { type Test } from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { isRoot } from '../../src/adapters/docker/host/host-commands.ts';
import { killFromHost } from '../../src/adapters/docker/host/host-kill.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as, type Person } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { listening, openTerminal } from '../support/terminal/terminals.ts';

/** Starts in progress per container. */
const STARTED = 3;
const WAITING = 21;
const LIMITS = { memory_mb: 256, cpu_shares: 500, disk_mb: 512 };

/** Stops each process that the engine starts in its container, by its future number, before it becomes the program. */
const HANG = `perl -e '
my $last = fork;
exit if !$last;
while (1) { kill STOP => $last + 1 .. $last + 100; select undef, undef, undef, 0.003 }
' </dev/null >/dev/null 2>&1 &`;

const engine = await engineOrSkip(t);
if (engine !== null && !(engine.isLocal && isRoot())) {
  t.pass('hung starts', { skip: 'what hangs can be killed by root of the same machine alone' });
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('a container with hanging starts delays nobody else', (t) => hungStarts(t, instance));
}

type Made = { readonly id: string; readonly db_id: string; readonly status: string };

/** The service on a real engine, with records in memory. */
async function aScene(t: Test, instance: TestInstance) {
  const { runtime, terminals: terminalBackend, commands, files, insight } = instance;
  const { slots } = engineCalls(instance.docker);
  const service = await aService({ runtime, terminalBackend, commands, files, insight, runtimeNode: 'test' });
  const run = (who: Person, { db_id }: Made, command: string[]) =>
    as(service, who)('POST', `/api/containers/${db_id}/exec`, { command, timeout_seconds: 20 });
  return {
    ...{ service, instance, run, address: await listening(t, service) },
    made: async (who: Person, name: string): Promise<Made> => {
      const made: Made = (await as(service, who)('POST', '/api/containers', { name, ...LIMITS })).json();
      // The engine cannot remove a hanging one.
      t.teardown(() => killFromHost(made.id));
      return made;
    },
    /** From now on nothing starts in the container; this many starts hang. Resolves when that is known. */
    hang: async (t: Test, who: Person, box: Made, starts: number) => {
      t.equal((await run(who, box, ['sh', '-c', HANG])).json().exit_code, 0);
      const stuck = Array.from({ length: starts }, () => run(who, box, ['true']));
      await waitFor(() => slots.isSuspect(box.id), { what: 'a start that is late' });
      return { over: () => Promise.all(stuck) };
    },
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

async function hungStarts(t: Test, instance: TestInstance): Promise<void> {
  const scene = await aScene(t, instance);
  const { service, made, run, hang } = scene;
  const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => aPerson(service, name)));
  if (ada === undefined || bob === undefined || eve === undefined) throw new Error('nobody');
  const [hung, fine, bobs] = [await made(ada, 'hung'), await made(ada, 'fine'), await made(bob, 'dev')];
  const others = [await made(eve, 'restarted'), await made(eve, 'deleted')] as const;
  const stuck = await hang(t, ada, hung, STARTED);
  await holdsUpNobody(t, scene, { ada, bob, hung, fine, bobs });
  if (instance.kind !== 'private') {
    t.comment('an engine of others is left to them');
    await stuck.over();
    return;
  }
  const [stopped] = await Promise.all([
    as(service, ada)('POST', `/api/containers/${hung.db_id}/stop`),
    isKilledAfterRestart(t, scene, { eve, hung: others[0], fine }),
    isDeleted(t, scene, { eve, hung: others[1] }),
  ]);
  t.match([stopped.statusCode, stopped.json().status], [200, 'stopped']);
  await stuck.over();
  t.equal((await as(service, ada)('POST', `/api/containers/${hung.db_id}/start`)).json().status, 'running');
  t.equal((await run(ada, hung, ['true'])).json().exit_code, 0, 'it works');
}

type Neighbours = { readonly [who in 'ada' | 'bob']: Person } & {
  readonly [box in 'hung' | 'fine' | 'bobs']: Made;
};

/** Commands wait and are refused in words, while everybody else works on. */
async function holdsUpNobody(
  t: Test,
  scene: Scene,
  { ada, bob, hung, fine, bobs }: Neighbours,
): Promise<void> {
  const { address, made, run } = scene;
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
}

/** By a service without a record of earlier starts. */
async function isKilledAfterRestart(
  t: Test,
  { instance, hang }: Scene,
  { eve, hung, fine }: { readonly eve: Person; readonly hung: Made; readonly fine: Made },
): Promise<void> {
  const late = await hang(t, eve, hung, 2);
  const restarted = await instance.restarted();
  const ended = (id: string): Promise<boolean> => restarted.endHung({ node: 'test', runtimeId: id });
  t.equal(await ended(fine.id), false, 'one that answers is left alone');
  t.equal(await ended(hung.id), true, 'nothing is known of a late start');
  await late.over();
}

async function isDeleted(
  t: Test,
  { service, hang }: Scene,
  { eve, hung }: { readonly eve: Person; readonly hung: Made },
): Promise<void> {
  const last = await hang(t, eve, hung, 1);
  const deleted = await as(service, eve)('DELETE', `/api/containers/${hung.db_id}`);
  t.equal(deleted.statusCode, 200, 'one that hangs can be deleted');
  await last.over();
}

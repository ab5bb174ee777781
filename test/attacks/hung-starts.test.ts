import t, { type Test } from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { isRoot } from '../../src/adapters/docker/host/host-commands.ts';
import { killFromHost } from '../../src/adapters/docker/host/host-kill.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as, type Person } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { listening, openTerminal } from '../support/terminal/terminals.ts';

/** Hanging commands per container. */
const STARTED = 3;
const WAITING = 21;
/** A start is late after 5 s, and given up after 30 s. */
const LATE_WITHIN_MS = 60_000;
/** A late start gives up its slot after 5 s; otherwise others would wait 30 s. */
const LONGEST_WAIT_SECONDS = 15;
const LIMITS = { memory_mb: 256, cpu_shares: 500, disk_mb: 512 };

/**
 * Stops each process that the engine starts in its container, by its future number, before it becomes the program. Ends
 * after the first round.
 */
const HANG = `perl -e '
pipe my $isReady, my $ready;
if (fork) { close $ready; <$isReady>; exit }
my $last = fork;
exit if !$last;
while (1) { kill STOP => $last + 1 .. $last + 100; close $ready; select undef, undef, undef, 0.003 }
' </dev/null >/dev/null 2>&1`;

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
  const run = (who: Person, { db_id }: Made, command: string[], seconds = 20) =>
    as(service, who)('POST', `/api/containers/${db_id}/exec`, { command, timeout_seconds: seconds });
  const waits: number[] = [];
  slots.listen(({ outcome, seconds }) => void (outcome === 'started' && waits.push(seconds)));
  return {
    service,
    instance,
    run,
    waits,
    address: await listening(t, service),
    made: async (who: Person, name: string): Promise<Made> => {
      const made: Made = (await as(service, who)('POST', '/api/containers', { name, ...LIMITS })).json();
      // The engine cannot remove a hanging one.
      t.teardown(() => killFromHost(made.id));
      return made;
    },
    /** From now on nothing starts in the container. Resolves when that is known. */
    hang: async (t: Test, who: Person, box: Made) => {
      t.equal((await run(who, box, ['sh', '-c', HANG])).json().exit_code, 0);
      // The engine answers before the program runs, so the late start is that of the script that ends it.
      const stuck = Array.from({ length: STARTED }, async () => {
        while ((await run(who, box, ['true'], 1)).json().exit_code === 0);
      });
      await waitFor(() => slots.isSuspect(box.id), {
        what: 'a start that is late',
        patienceMs: LATE_WITHIN_MS,
      });
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
  const stuck = await hang(t, ada, hung);
  const delaysNobody = (): Promise<void> => holdsUpNobody(t, scene, { ada, bob, hung, fine, bobs });
  if (instance.kind !== 'private') {
    t.comment('an engine of others is left to them');
    await delaysNobody();
    await stuck.over();
    return;
  }
  const [stopped] = await Promise.all([
    delaysNobody().then(() => as(service, ada)('POST', `/api/containers/${hung.db_id}/stop`)),
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
  const { address, made, run, waits } = scene;
  const attack = Array.from({ length: WAITING }, async () => {
    const { statusCode, headers, ...answer } = await run(ada, hung, ['true']);
    return { statusCode, code: answer.json().code, retryAfter: headers['retry-after'] };
  });

  t.equal((await run(bob, bobs, ['true'])).json().exit_code, 0, "another user's command");
  t.equal((await run(ada, fine, ['true'])).json().exit_code, 0, 'a command in the other container');
  const shell = await terminalClient(
    { address, dbId: bobs.db_id, token: bob.token },
    {},
    { patienceMs: 60_000 },
  );
  t.equal((await made(bob, 'second')).status, 'running', 'a new container');
  t.ok(Math.max(...waits) < LONGEST_WAIT_SECONDS, `${Math.max(...waits)} s until a start had its slot`);
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
  const late = await hang(t, eve, hung);
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
  const last = await hang(t, eve, hung);
  const deleted = await as(service, eve)('DELETE', `/api/containers/${hung.db_id}`);
  t.equal(deleted.statusCode, 200, 'one that hangs can be deleted');
  await last.over();
}

import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { OutcomeUnknown, RuntimeUnavailable } from '../../src/ports/containers/container-runtime.ts';
import { collect } from '../contract/containers/inside/container-commands.ts';
import { aTerminal } from '../contract/terminals/terminal-backend.ts';
import { aSpec, runIn } from '../support/engine/container.ts';
import { order, testCluster } from '../support/kubernetes/cluster.ts';
import { insideOf } from '../support/kubernetes/inside-scene.ts';
import { eventually } from '../support/patience.ts';

const cluster = testCluster();
const PATIENT = { patienceMs: 90_000, everyMs: 500 };

if (cluster.orders !== null) {
  const { runtime, commands, terminals } = await insideOf(t, cluster);
  const handle = await runtime.create(aSpec(cluster.image));
  await runtime.start(handle);
  const sh = async (script: string): Promise<string> =>
    String((await runIn(commands, handle, ['sh', '-c', script])).stdout);

  /** A command and a terminal lose their connection, and what they started lives on. */
  const survives = async (t: Test, daemon: Parameters<typeof order>[2]): Promise<void> => {
    const script = `sleep 5; echo done > /workspace/${daemon}`;
    const command = await commands.open(handle, { command: ['sh', '-c', script], timeoutSeconds: null });
    const outcome = collect(command);
    // It may be lost before the order is carried out.
    outcome.catch(() => undefined);
    const marker = randomUUID();
    const pty = await terminals.open(handle, aTerminal('kept', { marker }));
    pty.stream.resume();
    await order(cluster, 'kill', daemon);
    await t.rejects(outcome, OutcomeUnknown, 'nobody knows what becomes of the command');
    t.same(await pty.ending(), { kind: 'lost' });
    await order(cluster, 'start', daemon);
    const written = await eventually(
      () => sh(`cat /workspace/${daemon}`).catch((error: unknown) => error),
      (seen) => seen === 'done\n' || !(seen === '' || seen instanceof RuntimeUnavailable),
      PATIENT,
    );
    t.equal(written, 'done\n', 'it has ended by itself; until the cluster is back it is only unavailable');
    const { sessions, marks } = await terminals.leftovers(handle);
    t.ok(sessions.includes('kept'), 'the session waits for its next terminal');
    if (marks.includes(marker)) await terminals.endMarked(handle, marker);
    t.notOk((await terminals.leftovers(handle)).marks.includes(marker), 'what nobody attaches to is ended');
  };
  for (const daemon of ['kube-apiserver', 'kubelet', 'containerd'] as const)
    await t.test(`programs survive a killed ${daemon}`, (t) => survives(t, daemon));

  await t.test('a stop ends commands, with their code', async (t) => {
    const command = await commands.open(handle, { command: ['sleep', '600'], timeoutSeconds: null });
    const outcome = collect(command);
    await runtime.stop(handle, 2);
    t.match(await outcome, { exitCode: 143 });
    await t.rejects(sh('true'), { name: 'ContainerNotRunning', isGone: false });
  });
}

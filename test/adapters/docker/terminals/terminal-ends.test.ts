import t, { type Test } from 'tap';
import { terminalEnds } from '../../../../src/app/terminals/terminal-ends.ts';
import { CLOSE, type CloseReason } from '../../../../src/domain/terminals/terminal.ts';
import type { RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import { aTerminal, reader } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { eventually } from '../../../support/patience.ts';

/** Ends when there is room for nothing but itself. */
const FILL = "sh -c 'while :; do sleep 1000 & done'";

/** As where the kernel refuses what each client of tmux hands to its server. */
const REFUSED = `printf '#!/bin/sh\necho server exited unexpectedly >&2\nexit 1\n' > /usr/local/bin/tmux
chmod 755 /usr/local/bin/tmux`;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { docker, runtime, terminals, image } = instance;
  const handle = await runtime.create(aSpec(image));
  const { runtimeId } = handle;
  const refused = (t: Test, isGone: boolean) =>
    t.rejects(terminals.open(handle, aTerminal('main')), { name: 'ContainerNotRunning', isGone });

  await t.test('a container that does not run has no terminals', async (t) => {
    await refused(t, false);
    await t.resolves(terminals.killMuxSession(handle, 'main'));
  });
  await runtime.start(handle);
  await t.test('a tmux that cannot be reached', (t) => unreachable(t, instance, handle));
  await t.test('a container without a free process', (t) => full(t, instance, handle));
  await t.test('a container that ends takes no program for ended', async (t) => {
    const box = docker.getContainer(runtimeId);
    await endsAs(t, instance, handle, 'stopped by Berth', () => runtime.stop(handle, 5));
    await endsAs(t, instance, handle, 'killed', () => box.kill());
    await endsAs(t, instance, handle, 'stopped', () => box.stop({ t: 10 }));
    await endsAs(t, instance, handle, 'removed', () => box.remove({ force: true }));
    await refused(t, true);
    await t.resolves(terminals.killMuxSession(handle, 'main'));
  });
}

/** What a client is told after `work`, while the row says that the container runs. */
async function endsAs(
  t: Test,
  instance: TestInstance,
  handle: RuntimeHandle,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  await instance.runtime.start(handle);
  const pty = await instance.terminals.open(handle, aTerminal('main'));
  await reader(pty).until('# ');
  await work();
  t.equal(await reasonOf(instance, handle, await pty.ending()), CLOSE.containerStopped, name);
  await t.resolves(pty.close());
}

function reasonOf(
  { runtime }: TestInstance,
  handle: RuntimeHandle,
  end: Parameters<ReturnType<typeof terminalEnds>['afterEnd']>[1],
): Promise<CloseReason> {
  const { runtimeId } = handle;
  const row = { dbId: 'row', state: 'running', runtimeId, operation: null } as const;
  const ends = terminalEnds({ runtime, records: { containerStatuses: async () => [row] } });
  return ends.afterEnd({ dbId: 'row', handle, participation: null }, end, 60_000);
}

async function unreachable(t: Test, instance: TestInstance, handle: RuntimeHandle): Promise<void> {
  const { runtime, terminals } = instance;
  const exec = (script: string) =>
    runtime.exec(handle, { command: ['sh', '-c', script], timeoutSeconds: 60, maxOutputBytes: 1000 });
  const open = await terminals.open(handle, aTerminal('main'));
  await reader(open).until('# ');
  t.match(await exec(REFUSED), { exitCode: 0 });
  const other = await terminals.open(handle, aTerminal('other'));
  t.match(other, { muxSession: null, isFallback: true }, 'a plain shell where tmux does not start');
  const plain = reader(other);
  other.write('echo plain-$((1+1)); exit 3\r');
  await plain.until('plain-2');
  t.same(await other.ending(), { kind: 'exited', code: 3 });
  const shared = aTerminal('other', { sharedAs: { mode: 'view' } });
  await t.rejects(terminals.open(handle, shared), { name: 'TerminalNotStarted', fault: 'other' }, 'to share');
  await exec('pkill -f attach-session');
  const end = await open.ending();
  t.same(end, { kind: 'lost' }, 'what tmux does not say is not taken for an end');
  t.equal(await reasonOf(instance, handle, end), CLOSE.detached);
  await exec('rm /usr/local/bin/tmux');
  const again = await terminals.open(handle, aTerminal('main'));
  await reader(again).until('# ');
  await again.close();
}

async function full(t: Test, { runtime, terminals }: TestInstance, handle: RuntimeHandle): Promise<void> {
  const exec = (command: string[]) =>
    runtime.exec(handle, { command, timeoutSeconds: 60, maxOutputBytes: 1000 });
  const first = await terminals.open(handle, aTerminal('first'));
  const output = reader(first);
  await output.until('# ');
  first.stream.write(`${FILL}\r`);
  await output.until('Cannot fork', 60);
  for (const session of ['first', 'second']) {
    const opening = terminals.open(handle, aTerminal(session)).then((pty) => pty.close());
    await t.rejects(opening, { name: 'TerminalNotStarted', fault: 'no_processes' }, session);
  }
  // Not the one that keeps the container alive.
  first.stream.write('pkill -f "sleep 100[0]"; echo free-$((1+1))\r');
  await output.until('free-2', 60);
  const opening = () => terminals.open(handle, aTerminal('second')).catch(() => null);
  const second = await eventually(opening, Boolean, { patienceMs: 60_000, everyMs: 200 });
  t.ok(second, 'it opens when there is room');
  await second?.close();
  t.match(await exec(['true']), { exitCode: 0 });
}

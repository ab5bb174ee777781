import t, { type Test } from 'tap';
import { terminalEnds } from '../../src/app/terminal-ends.ts';
import { CLOSE, type CloseReason } from '../../src/domain/terminal.ts';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import { aTerminal, reader } from '../contract/terminal-backend.ts';
import { aSpec } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';

/** Ends when there is room for nothing but itself. */
const FILL = "sh -c 'while :; do sleep 1000 & done'";

/** As where the kernel refuses what each client of tmux hands to its server. */
const REFUSED = `printf '#!/bin/sh\necho server exited unexpectedly >&2\nexit 1\n' > /usr/local/bin/tmux
chmod 755 /usr/local/bin/tmux`;

t.setTimeout(180_000);
const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const box = (id: string) => instance.docker.getContainer(id);
  await t.test('a container that ends behind Berth takes no program for ended', async (t) => {
    await endsAs(t, instance, 'killed', (id) => box(id).kill());
    await endsAs(t, instance, 'stopped', (id) => box(id).stop({ t: 10 }));
    await endsAs(t, instance, 'removed', (id) => box(id).remove({ force: true }));
  });
  await t.test('a tmux that cannot be reached', (t) => unreachable(t, instance));
  await t.test('a container without a free process', (t) => full(t, instance));
}

async function running({ runtime, image }: TestInstance): Promise<RuntimeHandle> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  return handle;
}

/** What a client is told after `work`, while the row says that the container runs. */
async function endsAs(
  t: Test,
  instance: TestInstance,
  name: string,
  work: (id: string) => Promise<unknown>,
): Promise<void> {
  const handle = await running(instance);
  const pty = await instance.terminals.open(handle, aTerminal('main'));
  await reader(pty).until('# ');
  await work(handle.runtimeId);
  t.equal(await reasonOf(instance, handle, await pty.ending()), CLOSE.containerStopped, name);
  await instance.runtime.remove(handle);
}

function reasonOf(
  { runtime }: TestInstance,
  handle: RuntimeHandle,
  end: Parameters<ReturnType<typeof terminalEnds>['afterEnd']>[1],
): Promise<CloseReason> {
  const { runtimeId } = handle;
  const row = { containerId: 'row', state: 'running', runtimeId, operation: null } as const;
  const ends = terminalEnds({ runtime, records: { places: async () => [row] } });
  return ends.afterEnd({ containerId: 'row', handle, part: null }, end, 60_000);
}

async function unreachable(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, terminals } = instance;
  const handle = await running(instance);
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
  await runtime.remove(handle);
}

async function full(t: Test, instance: TestInstance): Promise<void> {
  const { runtime, terminals } = instance;
  const handle = await running(instance);
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
  await t.resolves(
    eventuallyOpens(() => terminals.open(handle, aTerminal('second'))),
    'it opens when there is room',
  );
  t.match(await exec(['true']), { exitCode: 0 });
  await runtime.remove(handle);
}

async function eventuallyOpens(open: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  for (const end = performance.now() + 60_000; ; ) {
    const pty = await open().catch((error: unknown) => {
      if (performance.now() > end) throw error;
      return null;
    });
    if (pty !== null) return await pty.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

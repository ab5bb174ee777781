import t, { type Test } from 'tap';
import type { CommandRequest, RunningCommand } from '../../../../src/ports/containers/container-commands.ts';
import { collect, containerAccessContract } from '../../../contract/containers/container-access.ts';
import { aSpec, markedProcesses, shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../../../support/engine/engine.ts';
import { standsStill } from '../../../support/patience.ts';

type Box = {
  readonly sh: (script: string) => Promise<string>;
  readonly open: (script: string, more?: Partial<CommandRequest>) => Promise<RunningCommand>;
};

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  const { runtime, commands, image } = instance;
  await containerAccessContract('docker', instance);
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const box: Box = {
    sh: shellIn(runtime, handle),
    open: (script, more = {}) =>
      commands.open(handle, { command: ['sh', '-c', script], timeoutSeconds: 60, ...more }),
  };
  await t.test('output comes while the command runs, in its order', (t) => order(t, box));
  await t.test('who does not read stops the command', (t) => backPressure(t, box));
  await t.test('the end of a command takes all that was started along', (t) => ending(t, box));
  await t.test('a slow reader gets all, and holds nobody up', (t) => slowReader(t, box));
}

async function order(t: Test, { sh, open }: Box): Promise<void> {
  const wait = 'n=$((n+1)); until [ -e /tmp/seen-$n ]; do sleep 0.05; done';
  const running = await open(`echo one; ${wait}; echo two >&2; ${wait}; echo three; ${wait}; exit 3`);
  const seen: string[] = [];
  for await (const event of running.events) {
    seen.push(event.kind === 'exit' ? `exit ${event.exitCode}` : `${event.stream} ${event.data}`);
    // It goes on when what it said has arrived.
    if (event.kind === 'output') await sh(`touch /tmp/seen-${seen.length}`);
  }
  t.same(seen, ['stdout one\n', 'stderr two\n', 'stdout three\n', 'exit 3']);
  t.match(
    await collect(await open('printf "OCI runtime exec failed: no, only a joke\\n"; exit 126')),
    { stderr: 'sh: not found\n', exitCode: 127 },
    'whoever speaks exactly like the engine is taken for it',
  );
  // The rest is to come apart from the words that look like the engine's.
  t.match(await collect(await open('echo OCI runtime exec failed; sleep 0.3; echo more; exit 126')), {
    stdout: 'OCI runtime exec failed\nmore\n',
  });
}

async function backPressure(t: Test, { sh, open }: Box): Promise<void> {
  const running = await open(
    'i=0; while :; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > /tmp/count; done',
  );
  const events = running.events[Symbol.asyncIterator]();
  await events.next();
  const written = await standsStill(async () => Number(await sh('cat /tmp/count')));
  t.ok(written * 65_536 < 4 * 1024 * 1024, 'it waits after a few buffers');
  await running.end();
  t.equal(await markedProcesses(sh), 0);
}

async function ending(t: Test, { sh, open }: Box): Promise<void> {
  const left = (): Promise<string> => sh('pgrep -fc "sleep 47[0-9]" || true');
  const running = await open('sleep 471 & (setsid sleep 472) & sh -c "sleep 473; :" & echo begun; wait');
  const events = running.events[Symbol.asyncIterator]();
  t.match(await events.next(), { value: { kind: 'output' } });
  t.ok(Number(await left()) > 3);
  await running.end();
  t.equal(await left(), '0');
  const limited = await collect(await open('echo begun; sleep 474', { timeoutSeconds: 1 }));
  t.match(limited, { stdout: 'begun\n', exitCode: null });
  t.equal(await left(), '0');
}

/**
 * The engine forgets what is not read within 2 s of a program's end, and reports the ends in a container one after the
 * other: when a later one is reported, it has waited for each that came before.
 */
async function slowReader(t: Test, { sh, open }: Box): Promise<void> {
  const mayRead = Promise.withResolvers<void>();
  const begun = Array.from({ length: 16 }, () => Promise.withResolvers<void>());
  const read = async (bytes: number, at: number): Promise<number> => {
    const running = await open(`exec head -c ${bytes} /dev/zero`);
    let count = 0;
    for await (const event of running.events) {
      if (event.kind === 'output' && count === 0) {
        begun[at]?.resolve();
        await mayRead.promise;
      }
      if (event.kind === 'output') count += event.data.length;
    }
    return count;
  };
  // The edge of what engine and kernel buffer lies somewhere here.
  const sizes = Array.from({ length: 16 }, (_, index) => 900_000 + index * 40_000);
  const reading = Promise.all(sizes.map(read));
  await Promise.all(begun.map(({ promise }) => promise));
  await standsStill(async () => Number(await sh('pgrep -xc head || true')));
  t.match(
    await collect(await open('true')),
    { exitCode: 0 },
    'another command ends while none of them is read',
  );
  mayRead.resolve();
  t.same(await reading, sizes);
}

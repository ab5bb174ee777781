import t from 'tap';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import { engineSlot } from '../../../src/app/main/engine/engine-ports.ts';
import type { OutputRoom } from '../../../src/ports/output-room.ts';

const handle = { node: 'test', runtimeId: 'a'.repeat(64) };

t.test('without an engine every call is refused, but for those that need none', async (t) => {
  const { runtime, files, commands, kernelShares } = engineSlot();
  const refused = { name: 'RuntimeUnavailable', message: 'no container engine' };
  await t.rejects(runtime.ping(), refused);
  await t.rejects(files.remove(handle, ['x']), refused);
  await t.rejects(commands.open(handle, { command: ['true'], timeoutSeconds: 1 }), refused);
  t.equal(runtime.diskQuota, 'soft');
  t.equal(await runtime.endHung(handle), false);
  t.equal(await kernelShares.read(), null);
});

t.test('a call reaches the engine in use with all its arguments', async (t) => {
  const { terminalBackend: terminals, ...ports } = memoryPorts();
  const seen: unknown[][] = [];
  const files: typeof ports.files = {
    ...ports.files,
    open: async (...args) => {
      seen.push(args);
      return await ports.files.open(...args);
    },
  };
  const slot = engineSlot();
  slot.fill({ ...ports, terminals, files });
  const room: OutputRoom = { freeBytes: 1, more: async () => {}, unwanted: new AbortController().signal };
  await t.rejects(slot.files.open(handle, ['x'], 'listing', room), { name: 'ContainerNotRunning' });
  t.same(seen, [[handle, ['x'], 'listing', room]]);
  await t.resolves(Promise.resolve(slot.files), 'a port is no promise');
});

import t from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import type {
  CommandEvent,
  ContainerCommands,
} from '../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as, auditOf } from '../../support/service/service.ts';
import { sshOverWebSocket } from '../../support/ssh/ssh-client.ts';
import { listening } from '../../support/terminal/terminals.ts';

/** Relays of an engine, which connect when the test says so, and end when Berth ends them. */
function relays() {
  const asked = Promise.withResolvers<void>();
  const connects = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  async function* events(): AsyncGenerator<CommandEvent> {
    await Promise.race([connects.promise, ended.promise]);
    yield { kind: 'output', stream: 'stdout', data: Buffer.from([0, 0, 0, 1, 0x2b]) };
    await ended.promise;
    yield { kind: 'exit', exitCode: null };
  }
  const end = async () => ended.resolve();
  const commands: ContainerCommands = {
    open: async () => {
      asked.resolve();
      return { events: events(), end, signal: end, resize: async () => {} };
    },
  };
  return { commands, asked: asked.promise, ended: ended.promise, connect: connects.resolve };
}

t.test('a client that leaves while its forward connects no longer uses its container', async (t) => {
  const clock = fixedClock();
  const { commands, asked, ended, connect } = relays();
  const service = await aService({ ...memoryPorts(clock), commands });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const box = { name: 'dev', memory_mb: 256, cpu_shares: 100, disk_mb: 512, idle_seconds: 60 };
  const dbId: string = (await call('POST', '/api/containers', box)).json().db_id;
  const { lifetimes } = service.ports.storage.repositories;
  const isForwarded = async () => {
    clock.advance(60_000);
    await service.keepUses();
    const last = (await lifetimes.activity(dbId)).find(({ kind }) => kind === 'port');
    return last?.lastAt.getTime() === clock.now().getTime();
  };
  const client = await sshOverWebSocket(await listening(t, service), dbId, ada);
  client.forwardOut('127.0.0.1', 1, 'localhost', 3000, () => {});
  await asked;
  t.ok(await isForwarded());
  client.end();
  await waitFor(() => auditOf(service, 'ssh_disconnected').length > 0);
  connect();
  await ended;
  await waitFor(async () => !(await isForwarded()));
});

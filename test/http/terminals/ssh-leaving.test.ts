import type { Readable } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import t, { type Test } from 'tap';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type {
  CommandEvent,
  ContainerCommands,
} from '../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { sshByKey } from '../../support/ssh/ssh-client.ts';
import { fakeTerminals, slowTerminals } from '../../support/terminal/terminals.ts';
import { standingTime } from '../../support/time.ts';

const INPUT = Buffer.alloc(1_000_000, 'x');
const MORE_THAN_A_TERMINAL_KEEPS = 2 * 2_097_152;
/** What a relay prints when it is connected. */
const CONNECTED = Buffer.from([0, 0, 0, 1, 0x2b]);

/** Programs that run until Berth ends them, and read their input or leave it. */
function programs({ reads }: { readonly reads: boolean }) {
  const seen = { started: 0, ends: 0, bytes: 0 };
  const commands: ContainerCommands = {
    async open(_handle, { stdin }) {
      const ended = Promise.withResolvers<void>();
      seen.started += 1;
      if (reads)
        (stdin as Readable).on('data', (data: Buffer) => {
          seen.bytes += data.length;
        });
      async function* events(): AsyncGenerator<CommandEvent> {
        yield { kind: 'output', stream: 'stdout', data: CONNECTED };
        await ended.promise;
        yield { kind: 'exit', exitCode: null };
      }
      const end = async () => {
        seen.ends += 1;
        ended.resolve();
      };
      return { events: events(), end, signal: async () => {}, resize: async () => {} };
    },
  };
  return { commands, seen };
}

/** An SSH client of a running container, signed in with a key. */
async function aClient(t: Test, ports: Partial<Ports>) {
  const service = await aService(ports);
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  await call('POST', '/api/containers', { name: 'dev', memory_mb: 256, cpu_shares: 100, disk_mb: 512 });
  const client = await sshByKey(t, service, ada, 'dev');
  client.on('error', () => {});
  t.teardown(() => client.end());
  return { client, call };
}

type Opening = (done: (error: Error | undefined, channel: ClientChannel) => void) => void;

const channelOf = (open: Opening): Promise<ClientChannel> =>
  new Promise((resolve, reject) =>
    open((error, channel) => {
      channel?.on('error', () => {});
      if (error) reject(error);
      else resolve(channel);
    }),
  );

for (const [how, leave] of [
  ['closes its channel', (_client: Client, channel: ClientChannel) => channel.close()],
  ['ends its connection', (client: Client) => client.end()],
] as const)
  t.test(`a command that does not read its input ends when its client ${how}`, async (t) => {
    const { commands, seen } = programs({ reads: false });
    const { client } = await aClient(t, { commands });
    const channel = await channelOf((done) => client.exec('program', done));
    await waitFor(() => seen.started === 1);
    channel.write(INPUT);
    leave(client, channel);
    await waitFor(() => seen.ends > 0);
  });

t.test('a command that reads its input without pause ends with the credential of its client', async (t) => {
  const { commands, seen } = programs({ reads: true });
  const { client, call } = await aClient(t, { commands });
  const channel = await channelOf((done) => client.exec('program', done));
  const send = (): void => {
    while (channel.writable && channel.write(INPUT.subarray(0, 10_000)));
  };
  channel.on('drain', send);
  send();
  await waitFor(() => seen.bytes > 10 * INPUT.length);
  const [key] = (await call('GET', '/api/me/ssh-keys')).json().ssh_keys;
  t.equal((await call('DELETE', `/api/me/ssh-keys/${key.id}`)).statusCode, 200);
  await waitFor(() => seen.ends > 0);
});

t.test(
  'a forwarded connection whose input nobody reads ends soon after its client has closed it',
  async (t) => {
    const { commands, seen } = programs({ reads: false });
    const { client } = await aClient(t, { commands });
    const channel = await channelOf((done) => client.forwardOut('127.0.0.1', 1, 'localhost', 3000, done));
    const time = standingTime(t);
    channel.write(INPUT);
    channel.close();
    await waitFor(() => {
      time.pass(10_000);
      return seen.ends > 0;
    });
  },
);

t.test('a terminal that takes no input is released when its client closes the channel', async (t) => {
  const fake = fakeTerminals();
  const terminalBackend: Ports['terminalBackend'] = {
    ...fake,
    async open(...request) {
      const pty = await fake.open(...request);
      Object.assign(pty.stream, { _write() {} });
      return pty;
    },
  };
  const { client } = await aClient(t, { terminalBackend });
  const channel = await channelOf((done) => client.shell(done));
  await waitFor(() => fake.opened.length === 1);
  channel.write(Buffer.alloc(MORE_THAN_A_TERMINAL_KEEPS));
  await waitFor(() => (fake.opened[0]?.stream.writableLength ?? 0) >= MORE_THAN_A_TERMINAL_KEEPS / 2);
  channel.close();
  await waitFor(() => fake.closed.length === 1);
});

t.test('a shell that opens gets the size that its window has then', async (t) => {
  const slow = slowTerminals();
  const sizes: string[] = [];
  const terminalBackend: Ports['terminalBackend'] = {
    ...slow,
    async open(...request) {
      const pty = await slow.open(...request);
      return { ...pty, resize: async (cols, rows) => void sizes.push(`${cols}x${rows}`) };
    },
  };
  const { client } = await aClient(t, { terminalBackend });
  const channel = await channelOf((done) => client.shell({ cols: 80, rows: 24 }, done));
  await waitFor(() => slow.wanted.length === 1);
  channel.setWindow(50, 132, 0, 0);
  // Its answer comes after the window's change.
  await channelOf((done) => client.forwardOut('127.0.0.1', 1, 'localhost', 3000, done)).catch(() => {});
  slow.openAll();
  await waitFor(() => sizes.length > 0);
  await waitFor(() => sizes.at(-1) === '132x50');
});

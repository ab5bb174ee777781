import t, { type Test } from 'tap';
import type { WebSocket } from 'ws';
import { aPerson, aService } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../support/terminal/terminals.ts';

const MIB = 1_048_576;

async function aScene(t: Test) {
  const backend = fakeTerminals({ muxed: false });
  const service = await aService({ terminalBackend: backend });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const address = await listening(t, service);
  return { backend, open: () => terminalClient({ address, dbId, token: ada.token }) };
}

const inParts =
  (parts: number) =>
  (socket: WebSocket): void => {
    for (let part = 1; part <= parts; part += 1) socket.send('x', { binary: true, fin: part === parts });
  };

t.test('a frame that must not be closes its socket, and reaches no program', async (t) => {
  const { backend, open } = await aScene(t);
  const cases: readonly [what: string, send: (socket: WebSocket) => void, code: number][] = [
    ['more than a mebibyte', (socket) => socket.send(Buffer.alloc(MIB + 1, 'x')), 1009],
    [
      'text that is no UTF-8',
      (socket) => socket.send(Buffer.from([0x22, 0xff, 0xfe]), { binary: false }),
      1007,
    ],
    ['a message in too many parts', inParts(65), 1008],
  ];
  for (const [what, send, code] of cases) {
    const client = await open();
    send(client.socket);
    t.equal((await client.closed())[0], code, what);
  }
  t.notOk(backend.opened.some((pty) => pty.typed() !== ''));
});

t.test('what is at the limits is taken, and messages that mean nothing are left alone', async (t) => {
  const { backend, open } = await aScene(t);
  const { socket, until, messages } = await open();
  const strange = [
    'no JSON',
    '{"type":"unknown"}',
    '{"type":"resize","cols":0,"rows":24}',
    '{"type":"resize","cols":80,"rows":-1}',
    '{"type":"resize","cols":80.5,"rows":24}',
    '{"type":"resize","cols":4294967296,"rows":24}',
    '{"type":"input_from","offset":-1}',
  ];
  for (const message of strange) socket.send(message);
  inParts(64)(socket);
  socket.send(Buffer.alloc(MIB, 'y'));
  socket.send('{"type":"ping","t":1}');
  await until(() => messages.some(({ type }) => type === 'pong'));
  await until(() => backend.opened[0]?.typed().length === MIB + 64);
  t.equal(backend.opened[0]?.typed().slice(0, 65), `${'x'.repeat(64)}y`);
  t.equal(socket.readyState, socket.OPEN);
});

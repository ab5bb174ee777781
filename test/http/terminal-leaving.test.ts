import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../support/terminal/terminals.ts';

/** How a client ends its connection, and whether its pane waits for it. */
const WAYS: readonly (readonly [name: string, waits: boolean, leave: (socket: Leaver) => void])[] = [
  ['a normal close', false, (socket) => socket.close(1000)],
  ['a close without a code', false, (socket) => socket.close()],
  ['a page that is left', true, (socket) => socket.close(1001)],
  ['a code of its own', true, (socket) => socket.close(4000)],
  ['a lost line', true, (socket) => socket.terminate()],
];
type Leaver = { close(code?: number): void; terminate(): void };

for (const [name, waits, leave] of WAYS) {
  t.test(`${name} ${waits ? 'keeps the pane for a client that comes back' : 'ends the pane'}`, async (t) => {
    const service = await aService({ terminalBackend: fakeTerminals() });
    const address = await listening(t, service);
    const ada = await aPerson(service, 'ada');
    const dbId = await aContainerOf(service, ada);
    const open = (query: Record<string, string | number>) =>
      terminalClient({ address, dbId, token: ada.token }, { connection_id: 'pane', ...query });
    const before = await open({});
    leave(before.socket);
    await waitFor(() => service.http.websocketServer.clients.size === 0);
    const after = await open({ stream: before.ready.stream, after: 0 });
    t.equal(after.ready.stream === before.ready.stream, waits);
  });
}

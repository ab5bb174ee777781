import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import type { AuditLog } from '../../src/ports/audit-log.ts';
import { waitFor } from '../support/patience.ts';
import { anAdmin, aService, as } from '../support/service.ts';

const PART_ROWS = 500;
const DETAILS = 'x'.repeat(2_000);

/** An audit without an end, which counts how much of it was read. */
function endless(): AuditLog & { readonly parts: () => number } {
  let parts = 0;
  return {
    parts: () => parts,
    append: async () => {},
    async page() {
      parts += 1;
      await immediate();
      const items = Array.from({ length: PART_ROWS }, (_, n) => ({
        id: `${parts}-${n}`,
        userId: null,
        username: null,
        action: 'login_failed',
        ipAddress: '192.0.2.1',
        userAgent: 'agent',
        details: DETAILS,
        createdAt: new Date(0),
      }));
      return { items, next: 'more' };
    },
  };
}

async function anExport(t: Test) {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const audit = endless();
  const service = await aService({
    storage: { ...storage, repositories: { ...storage.repositories, audit } },
  });
  const root = await anAdmin(service);
  await service.http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(() => service.http.close());
  const { port } = service.http.server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${root.token}`, accept: 'text/csv' };
  const request = get({ port, host: '127.0.0.1', path: '/api/admin/audit', headers });
  request.on('error', () => {});
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  return { service, root, answer, audit };
}

/** What reads reads at each turn of the event loop: after so many without it, it does not. */
const TURNS = 1_000;

/** The count once nothing is read any more, or once it has reached a limit. */
async function settled(count: () => number, limit: number): Promise<number> {
  let before = count();
  for (let turns = 0; turns < TURNS && before < limit; turns += 1) {
    await immediate();
    if (count() !== before) turns = 0;
    before = count();
  }
  return before;
}

const MAX_PARTS = 40;

t.test('an export that is not read on is not read from the database either', async (t) => {
  const { answer, audit } = await anExport(t);
  answer.pause();
  const parts = await settled(audit.parts, MAX_PARTS);
  t.ok(parts < MAX_PARTS, `${parts} parts of a megabyte fill the buffers of the line`);
  answer.resume();
  await once(answer, 'data');
  await waitFor(() => audit.parts() >= parts + 5, { what: 'it goes on when it is read on' });
  answer.destroy();
  const most = audit.parts() + MAX_PARTS;
  t.ok((await settled(audit.parts, most)) < most, 'and it ends with its reader');
});

t.test('an export is cut off when its session is revoked', async (t) => {
  const { service, root, answer } = await anExport(t);
  answer.resume();
  const cut = once(answer, 'aborted');
  await as(service, root)('POST', '/api/auth/logout');
  await cut;
  t.equal(answer.complete, false, 'half of it is not taken for the whole');
});

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { aFolder } from '../support/folder.ts';
import { aBoxOfAda } from '../support/inside-service.ts';
import { aPerson, as } from '../support/service.ts';

const ZEROS = ['head', '-c', '1048576', '/dev/zero'];

/** Commands over a unix socket, whose buffers in the kernel are small. */
async function aScene(t: Test) {
  const { service, ada, box } = await aBoxOfAda();
  const bob = await aPerson(service, 'bob');
  const of = (await as(service, bob)('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  const socketPath = path.join(aFolder(t), 'http');
  await service.http.listen({ path: socketPath });
  t.teardown(async () => {
    service.http.server.closeAllConnections();
    await service.http.close();
  });
  const run = (token: string, id: string, command: readonly string[]): ClientRequest => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const asked = request({ socketPath, method: 'POST', path: `/api/containers/${id}/exec`, headers });
    asked.on('error', () => {});
    asked.end(JSON.stringify({ command }));
    t.teardown(() => asked.destroy());
    return asked;
  };
  return {
    asAda: (command: readonly string[]) => run(ada.token, box.db_id, command),
    asBob: (command: readonly string[]) => run(bob.token, of.db_id, command),
  };
}

const answerOf = async (asked: ClientRequest): Promise<IncomingMessage> =>
  ((await once(asked, 'response')) as [IncomingMessage])[0];

t.test('answers that are not read are kept for their own user, four at once', async (t) => {
  const { asAda, asBob } = await aScene(t);
  const unread = Array.from({ length: 6 }, () => asAda(ZEROS));
  const begun = new Set<ClientRequest>();
  for (const asked of unread) asked.once('response', () => begun.add(asked));
  while (begun.size < 4) await new Promise(setImmediate);
  const large = (await json(await answerOf(asBob(ZEROS)))) as { stdout: string; truncated: boolean };
  t.ok(large.stdout.length > 340_000 && large.truncated, 'another user gets much output meanwhile');
  t.match(
    await json(await answerOf(asAda(['echo', 'small']))),
    { stdout: 'small\n' },
    'and the same user little',
  );
  t.equal(begun.size, 4, 'the other two wait');
  const [gone] = begun;
  gone?.destroy();
  while (begun.size < 5) await new Promise(setImmediate);
  t.pass('one that goes away makes room for the next');
});

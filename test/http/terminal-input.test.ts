import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { aCluster } from '../support/service/cluster.ts';

const MIB = 1_048_576;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

t.test('input that comes too fast is taken whole and in order, only later', async (t) => {
  const { here, ada, backend, open } = await aCluster(t);
  const { socket } = await open(ada, 'main');
  const taken: Buffer[] = [];
  const pty = backend.opened[0]?.stream;
  if (pty === undefined) return t.fail('nothing was opened');
  pty._write = (chunk: Buffer, _encoding, done) => {
    taken.push(Buffer.from(chunk));
    done();
  };
  const [server] = here.http.websocketServer.clients;
  const input = randomBytes(3 * MIB);
  for (let at = 0; at < input.length; at += 65_536) socket.send(input.subarray(at, at + 65_536));
  await waitFor(() => server?.isPaused, { what: 'the sender is made to wait' });
  const bytes = (): number => taken.reduce((sum, chunk) => sum + chunk.length, 0);
  await waitFor(() => bytes() === input.length, { what: () => `${bytes()} bytes came` });
  t.equal(sha256(Buffer.concat(taken)), sha256(input));
});

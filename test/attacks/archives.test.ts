import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { withShortOnes } from '../../src/adapters/docker/kernel/scarce-counters.ts';
import { NO_COUNTS } from '../../src/domain/containers/kernel-share.ts';
import type { RuntimeHandle } from '../../src/ports/containers/container-runtime.ts';
import type { Opened } from '../../src/ports/containers/inside/container-files.ts';
import { aSpec, runIn } from '../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../support/engine/engine.ts';
import { CALLS } from '../support/engine/kernel-attacks.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as } from '../support/service/service.ts';

const ARCHIVE_BYTES = 64 * 1_048_576;

const IO_SETUP = `${CALLS} for (1..3) { my $c = "\\0" x 8; kernel('io_setup', 1000, $c) >= 0 or die } print "taken\\n"; sleep 3600;`;

const TIMES = 40;
const LIMITS = { memory_mb: 512, cpu_shares: 1000, disk_mb: 512 };

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('unread archives delay no neighbour', (t) => unread(t, instance));
  await t.test('frequent requests for losses are measured once', (t) => asksOften(t, instance));
  if (engine.isLocal && engine.kind === 'private')
    await t.test('keys and io_setup requests are read when they are short', (t) => short(t, instance));
}

/** A running container with a folder larger than all buffers on the way. */
async function aBox({ runtime, commands, image }: TestInstance, ownerId: string): Promise<RuntimeHandle> {
  const handle = { ...(await runtime.create(aSpec(image, { ownerId }))), ownerId };
  await runtime.start(handle);
  const fill = `mkdir /workspace/folder && head -c ${ARCHIVE_BYTES} /dev/zero > /workspace/folder/zeros`;
  await runIn(commands, handle, ['sh', '-c', fill]);
  return handle;
}

async function unread(t: Test, instance: TestInstance): Promise<void> {
  const { files, docker } = instance;
  const [mallory, ada] = [
    await aBox(instance, '00000000-0000-4000-8000-00000000000a'),
    await aBox(instance, '00000000-0000-4000-8000-00000000000b'),
  ];
  const open = async (handle: RuntimeHandle): Promise<Readable> => {
    const opened = await files.open(handle, ['folder'], 'archive');
    if (!opened.ok || opened.value.kind === 'listing') throw new Error(JSON.stringify(opened));
    return (opened.value as Extract<Opened, { kind: 'archive' }>).content;
  };
  const opened: Readable[] = [];
  const asked = Array.from({ length: 6 }, () => open(mallory).then((content) => void opened.push(content)));
  await waitFor(() => opened.length === 4);
  for (const content of opened) await once(content, 'readable');
  await waitFor(() => engineCalls(docker).work.waiting() === 2, { what: () => 'two of them wait' });

  let bytes = 0;
  for await (const chunk of await open(ada)) bytes += chunk.length;
  t.ok(bytes > ARCHIVE_BYTES, 'a neighbour has all of an archive');
  const put = await files.write(ada, ['new'], Readable.from([Buffer.alloc(200_000)]), 1_000_000);
  t.match(put, { ok: true, value: { sizeBytes: 200_000 } }, 'and of an upload');
  t.same(
    [opened.length, opened.some(({ destroyed }) => destroyed)],
    [4, false],
    'while all of them are open',
  );

  while (opened.length < 6) {
    for (const content of opened) content.destroy();
    await waitFor(() => opened.some(({ destroyed }) => !destroyed));
  }
  for (const content of opened) content.destroy();
  await Promise.all(asked);
  t.equal(engineCalls(docker).work.waiting(), 0, 'one that ends makes room for the next');
}

async function short(t: Test, { runtime, commands, image, docker }: TestInstance): Promise<void> {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const begin = 'perl -e "$1" > /tmp/out 2>&1 & until grep -q taken /tmp/out; do sleep 0.05; done';
  await runIn(commands, handle, ['sh', '-c', begin, 'attack', IO_SETUP]);
  const container = docker.getContainer(handle.runtimeId);
  const { Titles, Processes } = await container.top();
  const pids = (Processes as string[][]).map((fields) => Number(fields[Titles.indexOf('PID')]));
  const listing = {
    limits: { aioRequests: 1, keys: 1, connections: 1 },
    totals: { aioRequests: 10, keys: 10, connections: 10 },
    shares: [{ runtimeId: handle.runtimeId, counts: NO_COUNTS }],
  };
  // Root of the container on this machine.
  const userId = Number(/^\s*0\s+(\d+)/.exec(readFileSync(`/proc/${pids[0]}/uid_map`, 'utf8'))?.[1]);
  const [seen] = await withShortOnes(listing, () => pids, userId);
  t.ok((seen?.counts.aioRequests ?? 0) >= 3000, 'as many as were asked for, at the least');
  t.ok((seen?.counts.keys ?? 0) >= 1, 'its processes have a key');
}

async function asksOften(t: Test, { runtime, commands, files, insight }: TestInstance): Promise<void> {
  let checks = 0;
  const neighbour = Promise.withResolvers<void>();
  const counted: typeof insight = {
    ...insight,
    changes: async (handle) => {
      checks += 1;
      const found = await insight.changes(handle);
      await neighbour.promise;
      return found;
    },
  };
  const service = await aService({ runtime, commands, files, insight: counted, runtimeNode: 'test' });
  const [eve, bob] = [await aPerson(service, 'eve'), await aPerson(service, 'bob')];
  const [hers, bobs] = await Promise.all(
    [eve, bob].map(async (who) => {
      const made = await as(service, who)('POST', '/api/containers', { name: 'dev', ...LIMITS });
      return `/api/containers/${made.json().db_id}`;
    }),
  );
  const change = { command: ['touch', '/opt/new'] };
  t.equal((await as(service, eve)('POST', `${hers}/exec`, change)).json().exit_code, 0);
  let waiting = TIMES;
  const asking = Array.from({ length: TIMES }, async () => {
    const answer = await as(service, eve)('GET', `${hers}/changes`);
    waiting -= 1;
    return answer;
  });
  const run = await as(service, bob)('POST', `${bobs}/exec`, { command: ['true'] });
  t.equal(run.json().exit_code, 0);
  t.equal(waiting, TIMES, "a neighbour's command ends while all of them wait");
  neighbour.resolve();
  for (const answer of await Promise.all(asking))
    t.match([answer.statusCode, answer.json().complete], [200, true]);
  t.equal(checks, 1);
}

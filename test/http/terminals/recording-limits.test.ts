import { randomUUID } from 'node:crypto';
import t from 'tap';
import { memoryRecordingFiles } from '../../../src/adapters/memory/terminals/recording-files.ts';
import type { RecordingFiles } from '../../../src/ports/terminals/recording-files.ts';
import { waitFor } from '../../support/patience.ts';
import { aStudio, castOf, shown } from '../../support/terminal/recordings.ts';

const MIB = 1_048_576;

t.test('a full quota ends the recording with a notice, never the terminal', async (t) => {
  const { open, record, call, cast, pty, service } = await aStudio(t);
  const { settings } = service.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 1 });
  const client = await open();
  const { id } = (await record()).json();
  let sent = 0;
  const say = async (bytes: number): Promise<void> => {
    sent += bytes;
    pty().say('x'.repeat(bytes));
    await client.until(() => client.output().length === sent);
  };
  while (sent < MIB - 60_000) await say(50_000);
  while (sent < MIB + 10_000) await say(2_000);
  await waitFor(async () => (await call('GET', `/api/recordings/${id}`)).json().state === 'truncated');
  const { size_bytes } = (await call('GET', `/api/recordings/${id}`)).json();
  t.ok(size_bytes <= MIB, `${size_bytes} bytes`);
  t.ok(size_bytes > MIB - 4_000, 'and not much less');
  const text = await cast(id);
  t.equal(text.length, size_bytes);
  t.match(castOf(text).header, { version: 2 });
  await client.until(() => client.messages.some(({ message }) => /use all the space/.test(String(message))));
  t.match(client.messages.filter(({ type }) => type === 'recording').at(-1), { on: false, id });
  t.equal(client.socket.readyState, client.socket.OPEN);

  const refused = await record();
  t.match([refused.statusCode, refused.json().code], [409, 'recording_quota_reached']);
  const other = await open({ connection_id: 'b', record: 'true' });
  await other.until(() => other.messages.length > 2);
  t.match(other.messages, [{ type: 'ready' }, { type: 'recording', on: false }, { type: 'notice' }]);
  await call('DELETE', `/api/recordings/${id}`);
  t.equal((await record()).statusCode, 201, 'what is deleted makes room');
});

t.test('recordings of one user share a quota while they go on; a smaller one counts at once', async (t) => {
  const { open, record, call, pty, pass, service } = await aStudio(t);
  const { settings } = service.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 1 });
  const clients = [await open(), await open({ connection_id: 'b' })];
  const [first, second] = [(await record()).json().id, (await record({ connection_id: 'b' })).json().id];
  const say = async (index: number, bytes: number): Promise<void> => {
    pty(index).say('x'.repeat(bytes));
    await clients[index]?.until(() => clients[index]?.output().length === bytes);
  };
  const read = async (id: string) => (await call('GET', `/api/recordings/${id}`)).json();
  const isTruncated = async (id: string) => (await read(id)).state === 'truncated';
  await say(0, 700_000);
  await waitFor(async () => {
    await pass(1_000);
    return (await read(first)).size_bytes > 700_000;
  });
  await pass(20_000);
  await say(1, 400_000);
  await waitFor(() => isTruncated(second));
  t.match(await read(first), { state: 'recording' });
  await settings.change({ recordingsMbPerUser: 0 });
  await pass(20_000);
  pty(0).say('one more');
  await waitFor(() => isTruncated(first));
});

/** Files that fail when they are told to, or take their time. */
function poorFiles() {
  const good = memoryRecordingFiles();
  let mode: 'good' | 'failing' | 'stuck' = 'good';
  const files: RecordingFiles = {
    ...good,
    async create(id) {
      if (mode === 'failing') throw new Error('no space left');
      const file = await good.create(id);
      return {
        ...file,
        async append(lines) {
          if (mode === 'failing') throw new Error('no space left');
          if (mode === 'stuck') await new Promise(() => {});
          await file.append(lines);
        },
      };
    },
  };
  return {
    files,
    become(next: typeof mode): void {
      mode = next;
    },
  };
}

t.test('a disk that fails ends the recording, never the terminal', async (t) => {
  const { files, become } = poorFiles();
  const { open, record, call, cast, pty } = await aStudio(t, { ports: { recordingFiles: files } });
  const client = await open();
  const { id } = (await record()).json();
  pty().say('kept');
  await waitFor(async () => shown(await cast(id)) === 'kept');
  become('failing');
  pty().say('lost');
  await waitFor(async () => (await call('GET', `/api/recordings/${id}`)).json().state === 'truncated');
  t.equal(shown(await cast(id)), 'kept');
  await client.until(() =>
    client.messages.some(({ message }) => /could not be written/.test(String(message))),
  );
  pty().say(' and on');
  await client.until(() => client.output().toString() === 'keptlost and on');
  t.equal((await record()).statusCode, 500);
  t.equal((await call('GET', '/api/recordings')).json().recordings.length, 1, 'and none that has no file');
  const other = await open({ connection_id: 'b', record: 'true' });
  pty().say('$ ');
  await other.until(() => other.output().length === 2);
});

t.test('a disk that stands still holds up no terminal, and takes no memory without end', async (t) => {
  const { files, become } = poorFiles();
  const { open, record, pty } = await aStudio(t, { ports: { recordingFiles: files } });
  const client = await open();
  await record();
  become('stuck');
  // Six bytes each in a recording.
  const chunk = '\0'.repeat(60_000);
  for (let sent = 0; sent < 2 * MIB; ) {
    sent += chunk.length;
    pty().say(chunk);
    await client.until(() => client.output().length === sent);
  }
  await client.until(() => client.messages.some(({ message }) => /faster than/.test(String(message))));
  t.equal(client.socket.readyState, client.socket.OPEN);
});

t.test('what a process that died was recording is ended, as far as it came', async (t) => {
  const { ada, dbId, files, service, call, cast } = await aStudio(t);
  const { recordings } = service.ports.storage.repositories;
  const left = async (replica: string, text: string | null) => {
    const place = { userId: ada.id, dbId, containerName: 'dev', connectionId: 'main' };
    const { id } = await recordings.insert({ ...place, id: randomUUID(), cols: 80, rows: 24, replica });
    if (text !== null) await (await files.create(id)).append(text);
    return id;
  };
  const whole = '{"version":2,"width":80,"height":24}\n[1.5,"o","a"]\n';
  const cut = await left(randomUUID(), `${whole}[2,"o","b`);
  const lost = await left(randomUUID(), null);
  await service.recordings.sweep();
  t.match((await call('GET', `/api/recordings/${cut}`)).json(), { state: 'recording' }, 'it may be alive');
  service.clock.advance(120_000);
  await service.recordings.sweep();
  const ended = { state: 'ended', size_bytes: whole.length, duration_ms: 1500, ended_at: String };
  t.match((await call('GET', `/api/recordings/${cut}`)).json(), ended);
  t.equal(await cast(cut), whole);
  t.match((await call('GET', `/api/recordings/${lost}`)).json(), { state: 'ended', size_bytes: 0 });
  const elsewhere = await call('GET', `/api/recordings/${lost}/cast`);
  t.match([elsewhere.statusCode, elsewhere.json().code], [503, 'recording_elsewhere']);
});

t.test('a file that belongs to nothing is removed when it is old', async (t) => {
  const { open, record, service, files, pass } = await aStudio(t);
  await open();
  const { id } = (await record()).json();
  const orphan = randomUUID();
  const young = randomUUID();
  for (const name of [orphan, young]) await (await files.create(name)).append('x');
  for (const name of [orphan, id]) Object.assign(files.held.get(name) ?? {}, { touchedAtMs: 0 });
  await pass(20_000);
  await service.recordings.sweep();
  t.same([...files.held.keys()].sort(), [id, young].sort());
});

import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { MAX_STORED_BYTES } from '../../src/domain/containers/processes/stored-output.ts';
import { freshDatabase } from '../support/database/database.ts';
import { waitForValue } from '../support/patience.ts';
import { small } from '../support/process/fault-scene.ts';
import { anInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';

const OUT_BYTES = 2_500_000;
const IN_BYTES = 1_500_000;
const PIECE_BYTES = 700_000;

/** Prints without a pause, then answers its whole input with a digest. */
const WORK = `i=0; while [ $i -lt ${OUT_BYTES / 10} ]; do printf '%09d\\n' $i; i=$((i+1)); done; sha256sum >&2`;

const expected = Buffer.from(
  Array.from({ length: OUT_BYTES / 10 }, (_, at) => `${String(at).padStart(9, '0')}\n`).join(''),
);
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

type Line = {
  stream?: 'stdout' | 'stderr';
  offset: number;
  data?: string;
  base64?: string;
  exit_code?: number;
};

const url = await freshDatabase(t);
const installation = url === null ? null : await anInstallation(t, { DATABASE_URL: url });
if (installation !== null) {
  await t.test('a killed service loses nothing of a process, its output and its input', async (t) => {
    let service = await startService(t, installation);
    const token = await signInAdmin(service);
    const call: ReturnType<typeof client> = (...args) => client(service.address, token)(...args);
    const made = await call('POST', '/api/containers', { name: 'dev', ...small });
    const box = `/api/containers/${made.body['db_id']}/processes`;
    const waiting = { command: ['sh', '-c', 'echo so far; sleep 3600'], name: 'left' };
    const { body: left } = await call('POST', box, waiting);
    const started = await call('POST', box, { command: ['sh', '-c', WORK], stdin: true });
    const one = `${box}/${started.body['id']}`;
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${service.address}${one}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });

    const read = follower(ask);
    const input = randomBytes(IN_BYTES);
    await read.until(() => read.stdout() > OUT_BYTES / 10);
    await send(t, ask, input.subarray(0, PIECE_BYTES), 0);
    // In the midst of output that is followed, and of input that is being sent.
    const sending = send(t, ask, input.subarray(0, 2 * PIECE_BYTES), 0).catch(() => null);
    await service.stop('SIGKILL');
    service = await startService(t, installation);
    await sending;
    const known = await ask('/input?offset=999999999', { method: 'POST', body: 'x' });
    const { input_offset: taken } = (await known.json()) as { input_offset: number };
    t.ok(taken === PIECE_BYTES || taken === 2 * PIECE_BYTES, `${taken} bytes were taken, whole pieces`);
    for (let at = 0; at < IN_BYTES; at += PIECE_BYTES)
      await send(t, ask, input.subarray(at, at + PIECE_BYTES), at, at + PIECE_BYTES >= IN_BYTES);
    await read.until(() => read.last() !== null);
    t.ok(read.bytes('stdout').equals(expected), 'every byte of the output, once');
    t.equal(read.bytes('stderr').toString(), `${sha256(input)}  -\n`, 'every byte of the input, once');
    t.match(read.last(), { exit_code: 0, after: `${OUT_BYTES},68` });
    t.ok(read.resumes() >= 1, 'the follower has resumed');
    const { body } = await call('GET', one);
    t.match(body, {
      status: 'ended',
      ended_by: 'exit',
      output: { stdout: { bytes: OUT_BYTES, first_kept: 0 } },
    });

    const found = () => call('GET', `${box}/${left['id']}`);
    t.match((await found()).body, { status: 'running', pid: left['pid'] });
    const outputOf = async (id: unknown): Promise<string> => {
      const headers = { authorization: `Bearer ${token}` };
      return await (await fetch(`${service.address}${box}/${id}/output?after=0,0`, { headers })).text();
    };
    await waitForValue(
      () => outputOf(left['id']),
      (lines) => lines.includes('so far'),
    );
    const remains = async (when: string): Promise<void> => {
      const cut = { bytes: 7, first_kept: 0, truncated: true };
      t.match((await found()).body, { ended_by: 'container_stopped', output: { stdout: cut } }, when);
      t.match(await outputOf(left['id']), '"data":"so far\\n"', when);
      const stdout = { bytes: OUT_BYTES, first_kept: OUT_BYTES - MAX_STORED_BYTES, truncated: true };
      t.match((await call('GET', one)).body['output'], { stdout, stderr: { truncated: false } }, when);
      t.match(await outputOf(started.body['id']), sha256(input), when);
    };
    const dev = `/api/containers/${made.body['db_id']}`;
    await call('POST', `${dev}/stop`);
    await remains('stopped');
    await call('POST', `${dev}/start`);
    t.match(
      (await found()).body,
      { output: { stdout: { bytes: 7, truncated: true } } },
      'nobody saw its end',
    );
    const larger = { ...small, name: 'dev', memory_mb: small.memory_mb * 2 };
    t.match((await call('PATCH', dev, larger)).body, { restarted: true });
    await remains('recreated');
    await service.stop();
  });
}

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** Sends bytes at an offset; 1 MiB at most. A lost answer is a rejection. */
async function send(t: Test, ask: Ask, data: Buffer, offset: number, isLast = false): Promise<void> {
  const path = `/input?offset=${offset}${isLast ? '&eof=true' : ''}`;
  for (let at = 0; at < data.length; at += PIECE_BYTES) {
    const piece = data.subarray(at, at + PIECE_BYTES);
    const answer = await ask(path.replace(String(offset), String(offset + at)), {
      method: 'POST',
      body: new Uint8Array(piece),
    });
    if (answer.status !== 200)
      t.fail(`input at ${offset + at} answered ${answer.status} ${await answer.text()}`);
  }
}

/** Reads the output, and again from where it was whenever the line breaks. */
function follower(ask: Ask) {
  const read = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const at = { stdout: 0, stderr: 0 };
  let last: Line | null = null;
  let resumes = -1;
  const take = (line: Line): void => {
    if (line.stream === undefined) {
      last = line;
      return;
    }
    if (line.offset !== at[line.stream]) throw new Error(`${line.stream} goes on at ${line.offset}`);
    const data = line.data === undefined ? Buffer.from(line.base64 ?? '', 'base64') : Buffer.from(line.data);
    read[line.stream].push(data);
    at[line.stream] += data.length;
  };
  const attempt = async (): Promise<void> => {
    const answer = await ask(`/output?follow=true&after=${at.stdout},${at.stderr}`);
    if (!answer.ok) return;
    resumes += 1;
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(JSON.parse(line));
    }
  };
  let fault: unknown = null;
  const all = async (): Promise<void> => {
    while (last === null) {
      await attempt().catch((error: unknown) => {
        if (error instanceof Error && error.message.includes('goes on')) throw error;
      });
    }
  };
  all().catch((error: unknown) => {
    fault = error;
  });
  return {
    bytes: (stream: 'stdout' | 'stderr'): Buffer => Buffer.concat(read[stream]),
    stdout: (): number => at.stdout,
    last: (): Line | null => last,
    resumes: (): number => resumes,
    until: async (is: () => boolean): Promise<void> => {
      await waitForValue(
        async () => is() || fault !== null,
        (done) => done,
        { patienceMs: 120_000, everyMs: 100 },
      );
      if (fault !== null) throw fault;
    },
  };
}

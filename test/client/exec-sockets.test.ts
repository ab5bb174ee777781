import t from 'tap';
import { showOnTerminal } from '../../src/cli/exec/on-terminal.ts';
import type { Io } from '../../src/cli/io/io.ts';
import type { RawListener } from '../../src/cli/io/raw-terminal.ts';
import { ExecLink } from '../../src/client/inside/exec-link.ts';
import { RunningCommand } from '../../src/client/inside/running-command.ts';
import { BerthError } from '../../src/client/request/errors.ts';
import type { SocketListener } from '../../src/client/socket/socket.ts';
import type { ExecServerFrame } from '../../src/protocol/exec-frames.ts';
import { waitFor } from '../support/patience.ts';

const LOST = 1006;
const start = {
  type: 'start' as const,
  command: ['cat'],
  env: null,
  workdir: null,
  timeout_seconds: null,
  stdin: true,
  terminal: null,
  run: 'r'.repeat(16),
};

/** A service that treats each line, by its number, as `serve` says. */
function aLink(serve: (line: number, answer: (frame: ExecServerFrame) => void, lose: () => void) => void) {
  const dialledAtMs: number[] = [];
  let losses = 0;
  const open = async (listener: SocketListener) => {
    const line = dialledAtMs.push(performance.now()) - 1;
    const answer = (frame: ExecServerFrame) => listener.text(JSON.stringify(frame));
    const lose = () => listener.closed(LOST, '', true);
    setImmediate(() => {
      listener.opened?.();
      serve(line, answer, lose);
    });
    return { send: () => {}, drop: () => {}, unsentBytes: () => 0 };
  };
  const link = new ExecLink({ open, refusal: async () => null }, start, () => {
    losses += 1;
  });
  return { link, dialledAtMs, losses: () => losses };
}

const refused = { type: 'refused', code: 'command_outcome_unknown', error: 'unknown', fields: {} } as const;
const resumed = { type: 'resumed', received: 0, signals: 0 } as const;

t.test('a client whom another process of the service refuses asks again', async (t) => {
  const { link, losses } = aLink((line, answer, lose) => {
    if (line === 0) {
      answer({ type: 'started' });
      lose();
    } else if (line < 4) answer(refused);
    else {
      answer(resumed);
      answer({ type: 'exit', exit_code: 7 });
    }
  });
  t.equal(await link.exitCode, 7);
  t.equal(losses(), 1);
});

t.test('a command that no process of the service has is of unknown outcome', async (t) => {
  const { link, dialledAtMs } = aLink((line, answer, lose) => {
    if (line === 0) lose();
    else answer(refused);
  });
  t.notOk(link.isConnected);
  await t.rejects(link.exitCode, { code: 'command_outcome_unknown' });
  t.ok(dialledAtMs.length > 4, `${dialledAtMs.length} lines`);
});

for (const frame of [
  { ...resumed, received: 1 },
  { ...resumed, signals: 1 },
  { type: 'room', bytes: 10, received: 1 },
] as const)
  t.test(`a service that counts what was not sent fails the command: ${JSON.stringify(frame)}`, async (t) => {
    const { link } = aLink((line, answer, lose) => {
      if (line > 0) return answer(frame);
      answer({ type: 'started' });
      lose();
    });
    await t.rejects(link.exitCode, { code: 'command_outcome_unknown', message: /counts more/ });
    await t.rejects(link.output.next(), { code: 'command_outcome_unknown' });
  });

t.test('a command is started once a service answers that did not at first', async (t) => {
  let [dials, starts, losses] = [0, 0, 0];
  const open = async (listener: SocketListener) => {
    dials += 1;
    if (dials === 1) throw new BerthError(0, 'unreachable', 'no token without the service');
    setImmediate(() => {
      if (dials < 4) return listener.closed(LOST, '', false);
      listener.opened?.();
      listener.text(JSON.stringify({ type: 'started' }));
      listener.text(JSON.stringify({ type: 'exit', exit_code: 7 }));
    });
    const send = (data: unknown) => {
      if (String(data).includes('"start"')) starts += 1;
    };
    return { send, drop: () => {}, unsentBytes: () => 0 };
  };
  const refusal = async () =>
    dials === 2
      ? new BerthError(0, 'unreachable', 'refused')
      : new BerthError(503, 'service_restarting', 'starting', { retryAfterSeconds: 0.3 });
  const reasons: (string | undefined)[] = [];
  const link = new ExecLink({ open, refusal }, start, (reason) => {
    losses += 1;
    reasons.push(reason?.code);
  });
  const begunAtMs = performance.now();
  t.equal(await link.exitCode, 7);
  t.same({ dials, losses }, { dials: 4, losses: 3 });
  t.equal(starts, 1, 'nothing starts twice');
  t.same(reasons, [undefined, undefined, 'service_restarting']);
  t.ok(performance.now() - begunAtMs > 300, 'it waits for as long as the service asks');
});

/** A service that refuses each socket. */
function aRefusal(error: BerthError, onLost = () => {}) {
  let dials = 0;
  const open = async (listener: SocketListener) => {
    dials += 1;
    setImmediate(() => listener.closed(LOST, '', false));
    return { send: () => {}, drop: () => {}, unsentBytes: () => 0 };
  };
  return { link: new ExecLink({ open, refusal: async () => error }, start, onLost), dials: () => dials };
}

const caused = (code: string): BerthError =>
  new BerthError(0, 'unreachable', 'Berth did not respond', {
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }),
  });

for (const error of [
  new BerthError(404, 'container_not_found', 'container not found'),
  new BerthError(429, 'too_many_at_once', 'too many at once', { retryAfterSeconds: 2 }),
  new BerthError(500, 'internal_error', 'failed'),
  new BerthError(503, 'container_unresponsive', 'no new programs'),
  new BerthError(503, 'service_restarting', 'later', { retryAfterSeconds: 31 }),
  caused('ENOTFOUND'),
  caused('CERT_HAS_EXPIRED'),
]) {
  t.test(
    `a service that does not start a command is not asked again: ${error.cause ?? error.code}`,
    async (t) => {
      const { link, dials } = aRefusal(error);
      await t.rejects(link.exitCode, error);
      t.equal(dials(), 1);
    },
  );
}

for (const error of [caused('ECONNREFUSED'), new BerthError(502, 'http_502', 'of a proxy')]) {
  t.test(`a command that its client ends at a loss is not dialled again: ${error.code}`, async (t) => {
    const { link, dials } = aRefusal(error, () => link.close(new Error('enough')));
    await t.rejects(link.exitCode, { message: 'enough' });
    const before = dials();
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(dials(), before);
  });
}

t.test('a line that is lost as soon as it is there is tried later each time', async (t) => {
  const { link, dialledAtMs } = aLink((line, answer, lose) => {
    if (line > 0) answer(resumed);
    lose();
  });
  await waitFor(() => dialledAtMs.length === 4, { what: 'four lines' });
  link.close(new Error('enough'));
  await link.over;
  const gapMs = (n: number): number => (dialledAtMs[n + 1] ?? 0) - (dialledAtMs[n] ?? 0);
  t.ok(gapMs(1) > 200, 'the second time after half of 500 ms');
  t.ok(gapMs(2) > 450, 'then after half of a second');
});

t.test('on a terminal, a second Ctrl-C ends a command whose line is lost', async (t) => {
  const { link } = aLink((line, answer, lose) => {
    if (line > 0) return;
    answer({ type: 'started' });
    setImmediate(lose);
  });
  await link.started;
  const listeners: RawListener[] = [];
  const raw = {
    size: () => ({ cols: 80, rows: 24 }),
    isRaw: () => true,
    note: () => {},
    begin(listener: RawListener) {
      listeners.push(listener);
      return () => {};
    },
  };
  const running = new RunningCommand(link);
  const shown = showOnTerminal(running, raw, {} as Io);
  const type = (bytes: number) => listeners[0]?.input(Uint8Array.of(bytes));
  for (let count = 0; count < 2; count += 1) type(0x03);
  t.ok(running.isConnected, 'while the line is there, the program gets it');
  await waitFor(() => !running.isConnected, { what: 'the loss' });
  for (const byte of [0x61, 0x03, 0x62]) type(byte);
  let isOver = false;
  void link.over.then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isOver, 'the first waits for the line');
  type(0x03);
  await t.rejects(shown, { code: 'command_ended' });
});

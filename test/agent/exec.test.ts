import t from 'tap';
import type { ResultOf } from '../../src/protocol/agent/index.ts';
import { connectedAgent } from '../support/agent/agent.ts';
import { anExec } from '../support/agent/service.ts';
import { isThere } from '../support/child.ts';
import { waitFor } from '../support/patience.ts';

const sh = (script: string, over = {}) => anExec(['sh', '-c', script], over);
const ended = (exit_code: number | null, over = {}): ResultOf<'exec'> => ({
  type: 'exec',
  exit_code,
  signal: null,
  timed_out: false,
  cut: false,
  ...over,
});

t.test('a command ends with its code, signal, and both of its outputs', async (t) => {
  const { service, home } = await connectedAgent(t);
  const run = service.open(
    sh('echo out; echo err >&2; pwd; echo "$A|$BERTH_TOKEN"; exit 3', { env: { A: 'b c' } }),
  );
  t.same(await run.over(), ended(3));
  t.equal(run.bytes(1).toString(), `out\n${home}\nb c|\n`);
  t.equal(run.bytes(2).toString(), 'err\n');
  const cases: [ReturnType<typeof anExec>, object, RegExp][] = [
    [sh('kill -TERM $$'), ended(null, { signal: 'TERM' }), /^$/],
    [anExec(['no-such-command']), ended(127), /^berth: no-such-command: command not found\n$/],
    [anExec(['/etc/passwd']), ended(126), /^berth: \/etc\/passwd: cannot be started\n$/],
    [anExec(['x'.repeat(131_072)]), ended(126), /cannot be started\n$/],
    [anExec(['pwd'], { cwd: '/no/such' }), ended(126), /^berth: no such folder: \/no\/such\n$/],
    [sh('exec cat', { stdin: false }), ended(0), /^$/],
  ];
  for (const [request, end, errors] of cases) {
    const one = service.open(request);
    t.same(await one.over(), end, String(request.command[0]).slice(0, 20));
    t.match(one.bytes(2).toString(), errors);
  }
  const inTmp = service.open(anExec(['pwd'], { cwd: '/tmp' }));
  await inTmp.over();
  t.equal(inTmp.bytes(1).toString(), '/tmp\n');
});

t.test('a command that does not read its input stops the sender', async (t) => {
  const { service } = await connectedAgent(t);
  const run = service.open(anExec(['sleep', '1000'], { stdin: true }));
  let sent = 0;
  await waitFor(() => {
    sent += run.channel.write(new Uint8Array(65_536));
    return run.channel.room === 0 && service.peer().unacknowledgedBytes === 0;
  });
  t.ok(sent < 1_000_000, `${sent} bytes`);
  run.channel.reset('unwanted');
});

t.test('the time limit and a reset end everything that a command has started', async (t) => {
  const { service } = await connectedAgent(t);
  const late = service.open(sh('sleep 1000 & echo $!; wait', { timeout_seconds: 1 }));
  t.match(await late.over(), ended(null, { signal: 'KILL', timed_out: true }));
  const left = service.open(sh('sleep 1000 & echo $!; wait'));
  await waitFor(() => left.bytes(1).includes('\n'));
  left.channel.reset('unwanted');
  for (const run of [late, left]) {
    const pid = Number(run.bytes(1).toString());
    await waitFor(() => pid > 1 && !isThere(pid), { what: `${pid} ends` });
  }
});

t.test('a child in the background does not keep a command open', async (t) => {
  const { service } = await connectedAgent(t);
  const run = service.open(sh('(sleep 1000 & echo $!); echo done'));
  t.match(await run.over(), ended(0));
  t.match(run.bytes(1).toString(), /^\d+\ndone\n$/);
  process.kill(Number.parseInt(run.bytes(1).toString(), 10));
});

t.test('output that is not read stops the command', async (t) => {
  const { service } = await connectedAgent(t);
  const run = service.open(sh('yes | head -c 3000000; echo end >&2'), { isSlow: true });
  await waitFor(() => run.bytes(1).length === 262_144);
  t.equal(run.result(), null);
  let consumed = 0;
  await waitFor(() => {
    const unread = run.bytes().length - consumed;
    consumed += unread;
    run.channel.consumed(unread);
    return run.result();
  });
  t.equal(run.bytes(1).length, 3_000_000);
  t.equal(run.bytes(2).toString(), 'end\n');
});

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { connectedAgent } from '../support/agent/agent.ts';
import { aShell, type Talk, type TestService } from '../support/agent/service.ts';
import { isThere } from '../support/child.ts';
import { aFolder } from '../support/folder.ts';
import { standsStill, waitFor } from '../support/patience.ts';
import { sha256 } from '../support/terminal/terminal-client.ts';

const shows = (talk: Talk, text: string): Promise<void> =>
  waitFor(() => talk.bytes().includes(text), {
    what: () => `${text} in ${talk.bytes().toString().slice(-500)}`,
  });

const type = (talk: Talk, line: string): number => talk.channel.write(Buffer.from(`${line}\r`));

const pidOf = ({ reply }: Talk): number => {
  const it = reply();
  return it?.type === 'shell' ? it.pid : 0;
};

async function opened(service: TestService, shell = 'main', over = {}): Promise<Talk> {
  const talk = service.open(aShell(shell, over));
  await waitFor(() => talk.reply() ?? talk.fault(), { what: 'the shell opens' });
  return talk;
}

t.test('a shell runs in the home of the user, without the token', async (t) => {
  const { service, home } = await connectedAgent(t);
  const shell = await opened(service, 'main', { env: { BERTH_TERM: 'mark' } });
  type(shell, 'echo "<$PWD|$HOME|$BERTH_TERM|$BERTH_TOKEN|$TERM|$(stty size)>"');
  await shows(shell, `<${home}|${home}|mark||xterm-256color|24 80>`);
  shell.channel.note({ type: 'resize', cols: 100, rows: 30 });
  type(shell, 'stty size');
  await shows(shell, '30 100');
  type(shell, `sh -c "echo ru''ns; exec sleep 1000"`);
  await shows(shell, 'runs');
  shell.channel.note({ type: 'signal', signal: 'INT' });
  type(shell, 'echo "code $?"');
  await shows(shell, 'code 130');
  type(shell, 'exit 7');
  t.same(await shell.over(), { type: 'shell', exit_code: 7, signal: null });
});

t.test(
  'a line that breaks again and again loses nothing and repeats nothing, in both directions',
  async (t) => {
    const { service } = await connectedAgent(t);
    const folder = aFolder(t);
    const [out, into] = [randomBytes(5_000_000), randomBytes(200_000)];
    writeFileSync(path.join(folder, 'out'), out);
    writeFileSync(
      path.join(folder, 'both.sh'),
      `stty raw -echo; printf START; cat out & head -c ${into.length} > in; wait; printf END; exec cat`,
    );
    const shell = await opened(service);
    const pid = pidOf(shell);
    type(shell, `cd ${folder}; sh both.sh`);
    await shows(shell, 'START');
    const sending = shell.send(into);
    const start = shell.bytes().indexOf('START') + 5;
    const received = (): number => shell.bytes().length - start;
    for (let cut = 1; cut <= 8; cut++) {
      await waitFor(() => service.isConnected() && received() > (cut * out.length) / 10);
      service.drop();
    }
    await sending;
    await waitFor(() => received() >= out.length + 3, { what: () => `${received()} bytes` });
    t.equal(sha256(shell.bytes().subarray(start, start + out.length)), sha256(out), 'output');
    t.equal(
      shell
        .bytes()
        .subarray(start + out.length)
        .toString(),
      'END',
    );
    t.equal(sha256(readFileSync(path.join(folder, 'in'))), sha256(into), 'input');
    t.equal(pidOf(await opened(service, 'main', { create: false })), pid, 'the same shell');
    t.ok(service.greetings.length > 8);
  },
);

t.test('after the service has forgotten everything, a shell goes on where its viewer was', async (t) => {
  const { service, said } = await connectedAgent(t);
  const first = await opened(service);
  type(first, "X=kept; echo be''fore");
  await shows(first, 'before');
  await standsStill(async () => first.bytes().length);
  const seen = first.bytes().length;
  service.forget();
  await waitFor(() => service.isConnected() && service.greetings.length === 2);
  const exact = await opened(service, 'main', { after: seen, create: false });
  t.match(exact.reply(), { created: false, offset: seen, redraw: false, pid: pidOf(first) });
  type(exact, 'echo "$X after"');
  await shows(exact, 'kept after');
  t.notMatch(exact.bytes().toString(), 'before', 'what it had is not repeated');
  const fresh = await opened(service, 'main', { after: 10_000_000, create: false });
  t.match(fresh.reply(), { offset: 0, redraw: true });
  await shows(fresh, 'kept after');
  t.match(fresh.bytes().toString(), 'before');
  t.notMatch(said.join(), 'where it left off');
});

t.test('a viewer who does not read stops the program, and nobody else', async (t) => {
  const { service } = await connectedAgent(t);
  const folder = aFolder(t);
  const count = path.join(folder, 'count');
  const slow = service.open(aShell('slow'), { isSlow: true });
  await waitFor(() => slow.reply());
  type(slow, `while :; do seq 1000; echo x >> ${count}; done`);
  const rounds = async (): Promise<number> => {
    try {
      return readFileSync(count).length;
    } catch {
      return 0;
    }
  };
  await waitFor(async () => (await rounds()) > 10);
  await standsStill(rounds);
  t.ok(slow.bytes().length <= 262_144, 'one window');
  const floods = await Promise.all([1, 2, 3, 4].map((at) => opened(service, `flood${at}`)));
  for (const flood of floods) type(flood, 'yes');
  await waitFor(() => floods.every((flood) => flood.bytes().length > 500_000));
  const typed = await opened(service, 'typed');
  type(typed, "echo ec''ho");
  await shows(typed, 'echo\r\n');
  for (const flood of floods) flood.channel.note({ type: 'end' });
  slow.channel.consumed(slow.bytes().length);
  const before = await rounds();
  await waitFor(async () => (await rounds()) > before, { what: 'it goes on once it is read' });
});

t.test('the last output of a program that ends while it is not read arrives', async (t) => {
  const { service } = await connectedAgent(t);
  const shell = service.open(aShell('main'), { isSlow: true });
  await waitFor(() => shell.reply());
  // more than the window and less than what the agent takes without pausing
  type(shell, 'stty -echo; seq 1 60000; echo LAST; exit 3');
  await waitFor(() => shell.bytes().length === 262_144);
  const pid = pidOf(shell);
  await waitFor(() => !isThere(pid), { what: 'the shell ends' });
  shell.channel.consumed(262_144);
  t.same(await shell.over(), { type: 'shell', exit_code: 3, signal: null });
  t.match(shell.bytes().toString().slice(-40), /60000\r\nLAST\r\n(logout\r\n)?$/);
});

t.test('shells are listed, shared, ended and replaced', async (t) => {
  const { service } = await connectedAgent(t);
  const [owner, guest] = [await opened(service), await opened(service, 'main', { view: true })];
  type(guest, "echo fo''rbidden");
  type(owner, "echo al''lowed");
  await shows(guest, 'allowed');
  t.notMatch(owner.bytes().toString(), 'rbidden', 'the input of a viewer has no effect');
  const list = service.open({ type: 'shells' });
  t.match(await list.over(), { shells: [{ shell: 'main', viewers: 2, cols: 80, pid: pidOf(owner) }] });
  const replaced = await opened(service, 'main', { force_new: true });
  t.match(replaced.reply(), { created: true });
  t.not(pidOf(replaced), pidOf(owner));
  t.match(await owner.over(), { type: 'shell' });
  t.match(await service.open({ type: 'end_shell', shell: 'main' }).over(), { ended: true });
  t.notOk(isThere(pidOf(replaced)));
  t.match(await service.open({ type: 'end_shell', shell: 'main' }).over(), { ended: false });
  t.match(await (await opened(service, 'main', { create: false })).over(), { code: 'no_such_shell' });
});

t.test('a shell without a viewer ends after its time, and one that is viewed stays', async (t) => {
  const { service } = await connectedAgent(t, { keptMs: 200 });
  const [left, stays] = [await opened(service, 'left'), await opened(service, 'stays')];
  left.channel.reset('detached');
  await waitFor(() => !isThere(pidOf(left)), { what: 'it ends' });
  t.ok(isThere(pidOf(stays)));
});

t.test('fifty shells work at once, and too many are refused', async (t) => {
  const { service } = await connectedAgent(t);
  const shells = await Promise.all(Array.from({ length: 50 }, (_, at) => opened(service, `s${at}`)));
  for (const [at, shell] of shells.entries()) type(shell, `echo "is ${at * 7}."`);
  await Promise.all(shells.map((shell, at) => shows(shell, `is ${at * 7}.`)));
  t.equal(new Set(shells.map(pidOf)).size, 50);
  const more = await Promise.all(Array.from({ length: 15 }, (_, at) => opened(service, `more${at}`)));
  t.equal(more.filter((one) => one.fault()?.code === 'too_many_shells').length, 1);
});

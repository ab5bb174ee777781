import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { aFolder } from '../support/folder.ts';
import { waitFor } from '../support/patience.ts';
import { cuttingProxy } from '../support/process/lines.ts';
import { client, register, type SharedService, sharedService } from '../support/process/running-service.ts';
import { theCommand } from '../support/service/command.ts';
import { onTerminal } from '../support/terminal/on-terminal.ts';

/** The command as a running service gives it, its user's token, and a running container `dev`. */
async function aScene(t: Test, service: SharedService) {
  const { token: login } = await register(service);
  const { token } = (await client(service.address, login)('POST', '/api/tokens', { name: 'cli' })).body;
  const file = path.join(aFolder(t), 'berth.mjs');
  const answer = await fetch(`${service.address}/cli/berth.mjs`);
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  const command = theCommand(t, service.address, token as string, file);
  const sizes = ['--memory', '256m', '--cpu', '0.5', '--disk', '512m'];
  t.match(await command.run(['create', 'dev', ...sizes]), { code: 0, stderr: /dev is running/ });
  return { ...command, service, file, token: token as string };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const service = await sharedService(t);
if (service !== null) {
  const scene = await aScene(t, service);
  await t.test('the doctor of the built command finds nothing wrong with a real service', (t) =>
    doctor(t, scene),
  );
  await t.test('programs get and give every byte, and folders come back as they went', (t) =>
    everyByte(t, scene),
  );
  await t.test('a shell edits, changes its size, survives its line, and is left and found again', (t) =>
    shells(t, scene),
  );
}

async function doctor(t: Test, { run, token }: Scene): Promise<void> {
  t.match(await run(['stats', 'dev']), { code: 0, stdout: /memory +\S+ \S+ of 256 MB/ });
  const { stdout, stderr } = await run(['doctor', '-o', 'json']);
  const results = JSON.parse(stdout) as { check: string; result: string }[];
  t.same(
    results.filter(({ result }) => result === 'failed'),
    [],
  );
  t.match(
    results.find(({ check }) => check === 'websockets'),
    { result: 'ok' },
  );
  t.notMatch(stdout + stderr, token);
}

async function everyByte(t: Test, { run, start, home }: Scene): Promise<void> {
  const random = randomBytes(1_048_576);
  const copied = start(['exec', 'dev', '--', 'cat'], random);
  t.equal((await copied.ended).code, 0);
  t.ok(copied.bytes().equals(random), 'binary input and output');
  t.same(await run(['exec', 'dev', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']), {
    code: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  const trap = start([
    'exec',
    'dev',
    '--',
    'sh',
    '-c',
    'trap "exit 9" INT; echo on; while :; do sleep 0.1; done',
  ]);
  await waitFor(() => trap.stdout() === 'on\n');
  trap.kill('SIGINT');
  t.equal((await trap.ended).code, 9, 'an interrupt reaches the program');
  mkdirSync(path.join(home, 'src/deep'), { recursive: true });
  writeFileSync(path.join(home, 'src/random'), random);
  writeFileSync(path.join(home, 'src/deep/run.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
  t.equal((await run(['cp', 'src', 'dev:'])).code, 0);
  t.match(await run(['exec', 'dev', '--', 'src/deep/run.sh']), { stdout: 'ran\n' });
  t.equal((await run(['cp', 'dev:src', 'back'])).code, 0);
  t.ok(readFileSync(path.join(home, 'back/random')).equals(random));
  t.ok((statSync(path.join(home, 'back/deep/run.sh')).mode & 0o100) !== 0);
}

async function shells(t: Test, { service, token, file }: Scene): Promise<void> {
  const line = await cuttingProxy(t, new URL(service.address), {
    everyMs: 100,
    bytesPerMs: 10_000,
    isCalm: true,
  });
  const { env, home, run } = theCommand(t, `http://${line.host}`, token, file);
  const inTerminal = async (...args: readonly string[]) => {
    const options = { cwd: home, env: { ...env, TERM: 'xterm-256color' } };
    const terminal = onTerminal(t, process.execPath, [file, ...args], options);
    await terminal.shows(/[#$]\s*$/);
    /** Types what the shell echoes, and waits for its answer. */
    const answers = async (typed: string, answer: RegExp): Promise<void> => {
      terminal.clear();
      terminal.user.write(typed);
      await terminal.shows(answer);
    };
    return { ...terminal, answers };
  };

  const shell = await inTerminal('shell', 'dev');
  await shell.answers('stty size\r', /30 90/);
  shell.user.resize(70, 20);
  await shell.answers('until [ "$(stty size)" = "20 70" ]; do sleep 0.1; done; echo si""zed\r', /sized/);
  await shell.answers('vi notes.txt\r', /notes\.txt/);
  await shell.answers('ihello from vi', /hello from vi/);
  await shell.answers('\x1b:wq\r', /written|[#$]\s*$/);
  await shell.answers('cat notes.txt\r', /cat notes\.txt\s+hello from vi/);
  line.begin();
  await shell.shows(/connection lost/);
  shell.user.write('echo wh""ole $((6*7))\r');
  line.calm();
  await shell.shows(/whole 42/);
  await shell.answers('SEEN=before\r', /[#$]\s*$/);
  shell.user.write('\x1c');
  t.equal(await shell.ended, 0);

  const again = await inTerminal('shell', 'dev');
  await again.answers('echo "is $SEEN"\r', /is before/);
  const other = await inTerminal('shell', 'dev', '--session', 'build');
  await other.answers('echo "is [$SEEN]"\r', /is \[\]/);
  await other.answers('exit 3\r', /exit/);
  t.equal(await other.ended, 3, "the shell's exit code");
  again.user.write('\x1c');
  await again.ended;
  const fresh = await inTerminal('shell', 'dev', '--new');
  await fresh.answers('echo "is [$SEEN]"\r', /is \[\]/);
  fresh.user.write('\x1c');
  await fresh.ended;

  const program = await inTerminal('exec', '-t', 'dev', '--', 'bash', '--norc');
  await program.answers('stty size; tty\r', /30 90\s+\/dev\/pts/);
  program.user.resize(80, 25);
  await program.answers('until [ "$(stty size)" = "25 80" ]; do sleep 0.1; done; exit 5\r', /exit/);
  t.equal(await program.ended, 5);
  t.match(await run(['exec', 'dev', '--', 'cat', 'notes.txt']), { code: 0, stdout: 'hello from vi\n' });
}

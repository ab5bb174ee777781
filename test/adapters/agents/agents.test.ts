import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { anyCommandContract, collect } from '../../contract/containers/inside/container-commands.ts';
import { filesContract, filesOf, links, special, uploads } from '../../contract/containers/inside/files.ts';
import { anyTerminalContract, aTerminal, reader } from '../../contract/terminals/terminal-backend.ts';
import { terminalInput } from '../../contract/terminals/terminal-input.ts';
import { hostedAgent } from '../../support/agent/hosted.ts';
import { aFolder } from '../../support/folder.ts';
import { waitFor } from '../../support/patience.ts';

const agent = await hostedAgent(t);
const { ports, handle, home, sh } = agent;
const { terminalBackend: terminals, commands, files } = ports;

await t.test('agents: commands', (t) => anyCommandContract(t, (request) => commands.open(handle, request)));

await t.test('agents: files', (t) => filesContract(t, filesOf(files, handle)));

// In place of `/etc`, where a fault of the agent would reach files of this machine.
const outside = aFolder(t);
await writeFile(path.join(outside, 'passwd'), 'kept');
for (const contract of [links, special, uploads])
  await t.test(`agents: ${contract.name}`, (t) =>
    contract(t, {
      handle,
      files: filesOf(files, handle),
      sh: (script) => sh(script.replaceAll('/workspace', home).replaceAll('/etc', outside)),
    }),
  );

await t.test('agents: terminals', (t) => anyTerminalContract(t, { terminals, handle }));

await terminalInput(t, 'agents', { terminals, handle, shell: '/bin/bash', sh, folder: home });

t.test('what containers have in /workspace is in the home', async (t) => {
  const pwd = async (workdir?: string) => {
    const running = await commands.open(handle, {
      command: ['pwd'],
      timeoutSeconds: 20,
      ...(workdir === undefined ? {} : { workdir }),
    });
    for await (const event of running.events) if (event.kind === 'output') return String(event.data).trim();
    return '';
  };
  await sh('mkdir -p deep');
  t.equal(await pwd(), home);
  t.equal(await pwd('/workspace'), home);
  t.equal(await pwd('/workspace/deep'), path.join(home, 'deep'));
  t.equal(await pwd('/'), '/');
});

t.test("the shell's exit ends its terminals with its code", async (t) => {
  const both = await Promise.all([1, 2].map(() => terminals.open(handle, aTerminal('exits'))));
  const [first, second] = both;
  const shown = both.map(reader);
  first?.write('echo seen-by-$((40+2))\r');
  await Promise.all(shown.map((each) => each.until('seen-by-42')));
  const over = both.map((pty) => once(pty.stream, 'close'));
  second?.write('exit 7\r');
  await Promise.all(over);
  for (const pty of both) t.same(await pty.ending(), { kind: 'exited', code: 7 });
  await t.resolves(first?.close() ?? Promise.reject(), 'a close after the end is harmless');
});

t.test('a closed terminal ends its shell, unless the service restarts', async (t) => {
  const pty = await terminals.open(handle, aTerminal('closed'));
  const output = reader(pty);
  pty.write('echo pid=$$.\r');
  const pid = /pid=(\d+)\./.exec(await output.until(/pid=\d+\./))?.[1];
  await pty.close();
  await t.rejects(sh(`kill -0 ${pid}`), 'it is gone when the close returns');
});

t.test('a terminal goes on to the byte over cut connections', async (t) => {
  const pty = await terminals.open(handle, aTerminal('cut'));
  const output = reader(pty);
  await output.until(/[$#] /);
  await writeFile(
    path.join(home, 'lines'),
    Array.from({ length: 60_000 }, (_, at) => `line ${at}\n`).join(''),
  );
  pty.write('stty -echo; clear; cat lines; echo E""ND\r');
  // All of it may be there before a cut.
  const shows = (text: string) => waitFor(() => output.all().includes(text), { what: text });
  for (const at of [10_000, 30_000, 50_000]) {
    await shows(`line ${at}`);
    agent.cut();
    await waitFor(() => agent.hub.count() === 0);
  }
  await shows('END');
  const numbers = [...output.all().matchAll(/line (\d+)\r\n/g)].map(([, number]) => Number(number));
  t.equal(numbers.length, 60_000);
  t.equal(
    numbers.findIndex((number, at) => number !== at),
    -1,
    'every line once, in order',
  );
  await pty.close();
});

/** Shorter than the agent needs to come back. */
const KEPT_MS = 20;

t.test('requests do not wait for a lost agent, say what is known, and end in it', async (t) => {
  const { ports, handle, home, hub, sh, cut } = await hostedAgent(t, KEPT_MS);
  const { commands, files, terminalBackend: terminals } = ports;
  const pty = await terminals.open(handle, aTerminal('goes-on'));
  const output = reader(pty);
  const running = await commands.open(handle, {
    command: ['sh', '-c', 'echo $$ > pid; exec sleep 3600'],
    timeoutSeconds: null,
  });
  const ended = t.rejects(collect(running), { name: 'OutcomeUnknown' }, 'it may have been done');
  await waitFor(() => existsSync(path.join(home, 'pid')));
  const content = new PassThrough();
  content.write('half of it');
  const written = t.rejects(
    files.write(handle, ['upload'], content, 1_000_000),
    { code: 'agent_unresponsive' },
    'nothing was written',
  );
  await waitFor(async () => (await sh('ls -A')).includes('.berth-upload-'));
  cut();
  await ended;
  content.write('and more');
  await written;
  await waitFor(() => hub.count() === 1);
  await waitFor(async () => (await sh('kill -0 $(cat pid) 2>&1 || echo gone')).includes('gone'));
  await waitFor(async () => (await sh('ls -A')).trim() === 'pid', { what: 'the agent keeps no part of it' });
  pty.write('echo still-$((40+2))\r');
  await output.until('still-42');
  await pty.close();
});

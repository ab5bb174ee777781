import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { anyCommandContract } from '../../contract/containers/inside/container-commands.ts';
import { filesContract, filesOf, special } from '../../contract/containers/inside/files.ts';
import { anyTerminalContract, aTerminal, reader } from '../../contract/terminals/terminal-backend.ts';
import { terminalInput } from '../../contract/terminals/terminal-input.ts';
import { hostedAgent } from '../../support/agent/hosted.ts';
import { waitFor } from '../../support/patience.ts';

const agent = await hostedAgent(t);
const { ports, handle, home, sh } = agent;
const { terminalBackend: terminals, commands, files } = ports;

await t.test('agents: commands', (t) => anyCommandContract(t, (request) => commands.open(handle, request)));

await t.test('agents: files', (t) => filesContract(t, filesOf(files, handle)));

await t.test('agents: special files', (t) =>
  special(t, {
    handle,
    files: filesOf(files, handle),
    sh: (script) => sh(script.replaceAll('/workspace', home)),
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

import { existsSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { collect } from '../../contract/containers/inside/container-commands.ts';
import { aTerminal, reader } from '../../contract/terminals/terminal-backend.ts';
import { hostedAgent } from '../../support/agent/hosted.ts';
import { waitFor } from '../../support/patience.ts';

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

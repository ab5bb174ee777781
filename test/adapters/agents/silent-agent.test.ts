import { randomUUID } from 'node:crypto';
import pino from 'pino';
import t from 'tap';
import { AgentHub, agentPorts } from '../../../src/adapters/agents/index.ts';
import { AGENT_NODE } from '../../../src/domain/containers/agents/agent.ts';
import { Peer } from '../../../src/protocol/agent/index.ts';
import { aTerminal } from '../../contract/terminals/terminal-backend.ts';
import { waitFor } from '../../support/patience.ts';

/** A connected agent that answers no request, and what of its requests was given up. */
function aSilentAgent() {
  const hub = new AgentHub(pino({ level: 'silent' }));
  const dbId = randomUUID();
  const givenUp: string[] = [];
  const there = new Peer({
    role: 'agent',
    broken: () => {},
    opened: ({ type }) => ({ reset: () => void givenUp.push(type) }),
  });
  let isWelcome = true;
  const line = {
    bufferedBytes: 0,
    close: () => {},
    send(bytes: Uint8Array) {
      if (!isWelcome) there.receive(bytes);
      isWelcome = false;
    },
  };
  const agent = { id: dbId, name: 'a', version: '0', hostname: 'a', platform: 'linux', arch: 'x64' };
  const greeting = { version: 1, session: null, received: 0, command_terminals: false } as const;
  hub.attach({ dbId, epoch: 1 }, line, { ...greeting, agent: { ...agent, user: 'ada', home: '/home/ada' } });
  const handle = { node: AGENT_NODE, runtimeId: `agent:${dbId}` };
  return { ports: agentPorts(hub, new Date(), 1), handle, givenUp };
}

t.test('an agent that answers nothing keeps nobody waiting', async (t) => {
  const { ports, handle, givenUp } = aSilentAgent();
  const { terminalBackend, commands, files } = ports;
  await t.rejects(terminalBackend.open(handle, aTerminal('main')), { code: 'agent_unresponsive' });
  await t.rejects(terminalBackend.killMuxSession(handle, 'main'), { name: 'OutcomeUnknown' });
  await t.rejects(commands.open(handle, { command: ['true'], timeoutSeconds: 20 }), {
    name: 'OutcomeUnknown',
  });
  await t.rejects(files.open(handle, ['a'] as never, 'listing'), { code: 'agent_unresponsive' });
  await waitFor(() => givenUp.length === 4);
  t.same(givenUp, ['shell', 'end_shell', 'exec', 'file_open'], 'the agent hears that each was given up');
});

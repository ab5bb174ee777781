import { randomUUID } from 'node:crypto';
import pino from 'pino';
import t from 'tap';
import { AgentHub, agentPorts } from '../../../src/adapters/agents/index.ts';
import { AGENT_NODE } from '../../../src/domain/containers/agents/agent.ts';
import { readGreeting, readWelcome } from '../../../src/protocol/agent/index.ts';

/** A greeting as agents sent it before they gave commands terminals. */
const OLDER_GREETING = {
  ...{ type: 'greeting', version: 1, session: null, received: 0 },
  agent: {
    ...{ id: randomUUID(), name: 'old', version: '0', hostname: 'old', platform: 'linux', arch: 'x64' },
    ...{ user: 'ada', home: '/home/ada' },
  },
};

t.test('an agent that gives commands no terminal is not asked to run one in it', async (t) => {
  const hub = new AgentHub(pino({ level: 'silent' }));
  const dbId = randomUUID();
  const sent: Uint8Array[] = [];
  const line = { send: (bytes: Uint8Array) => void sent.push(bytes), bufferedBytes: 0, close: () => {} };
  const greeting = readGreeting(Buffer.from(`\x01${JSON.stringify(OLDER_GREETING)}`));
  if (!greeting.ok) throw new Error(greeting.error.code);
  const attached = hub.attach({ dbId, epoch: 1 }, line, greeting.value);
  const { commands } = agentPorts(hub, new Date());
  const handle = { node: AGENT_NODE, runtimeId: `agent:${dbId}` };
  const terminal = { term: 'xterm', cols: 80, rows: 24 };
  const opening = commands.open(handle, { command: ['rm', 'it'], timeoutSeconds: 20, terminal });
  const asked = sent.filter((bytes) => !readWelcome(bytes).ok);
  hub.end({ dbId, epoch: 1 }, 'forgotten');
  attached.gone();
  await t.rejects(opening, { name: 'NotOffered' });
  t.same(asked, [], 'the agent got the welcome only');
});

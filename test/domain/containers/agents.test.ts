import t from 'tap';
import {
  type AgentEvent,
  type AgentState,
  checkAgentLimit,
  nextAgent,
} from '../../../src/domain/containers/agents/agent.ts';
import { agentNameAt, cleanAgentName, isNameOf } from '../../../src/domain/containers/agents/agent-name.ts';
import { nameFaults } from '../../../src/domain/containers/container.ts';

const away: AgentState = { kind: 'away', epoch: 3 };
const stopped: AgentState = { kind: 'stopped', epoch: 3 };
const forgotten: AgentState = { kind: 'forgotten', epoch: 3 };
const connected: AgentState = { kind: 'connected', epoch: 3, replica: 'a' };
const newer: AgentState = { kind: 'connected', epoch: 4, replica: 'b' };
const connect: AgentEvent = { type: 'connect', replica: 'b' };
const lost = (epoch: number): AgentEvent => ({ type: 'lost', epoch });

const closes = (reason: string) => `close 3 at a: ${reason}`;

/** What each event does in each state: the new state, and the effects. */
const CASES: readonly (readonly [AgentState, AgentEvent, AgentState, ...string[]])[] = [
  [away, connect, newer, 'connected'],
  [stopped, connect, newer, 'connected'],
  [connected, connect, newer, closes('replaced')],
  [forgotten, connect, forgotten],
  [connected, lost(3), away, 'disconnected'],
  [connected, lost(2), connected],
  [away, lost(3), away],
  [stopped, lost(3), stopped],
  [connected, { type: 'stop' }, stopped, 'stopped', closes('stopped')],
  [away, { type: 'stop' }, stopped],
  [stopped, { type: 'stop' }, stopped],
  [connected, { type: 'forget' }, forgotten, 'deleted', closes('forgotten')],
  [away, { type: 'forget' }, forgotten, 'deleted'],
  [forgotten, { type: 'forget' }, forgotten],
];

t.test('an agent in each state takes each event', async (t) => {
  for (const [state, event, expected, ...effects] of CASES) {
    const step = nextAgent(state, event);
    const done = step.effects.map((effect) =>
      effect.do === 'close' ? `close ${effect.epoch} at ${effect.replica}: ${effect.reason}` : effect.what,
    );
    t.same([step.state, ...done], [expected, ...effects], `${state.kind} ${event.type}`);
  }
});

t.test('the limit counts agents', async (t) => {
  t.ok(checkAgentLimit(1, 2).ok);
  t.match(checkAgentLimit(2, 2), { error: { code: 'agent_limit_reached', max: 2 } });
  t.notOk(checkAgentLimit(0, 0).ok);
});

t.test('a machine’s name becomes that of a container', async (t) => {
  for (const [given, name] of [
    ['laptop', 'laptop'],
    ['My box!.local', 'My-box-local'],
    ['--', 'agent'],
    ['', 'agent'],
    ['é', 'agent'],
    [`${'x'.repeat(63)} y`, 'x'.repeat(63)],
  ] as const) {
    t.equal(cleanAgentName(given), name);
    t.same(nameFaults(name), {});
  }
});

t.test('a number makes a name free, and still is that name', async (t) => {
  const long = 'x'.repeat(64);
  t.same(
    [1, 2, 10].map((n) => agentNameAt('box', n)),
    ['box', 'box-2', 'box-10'],
  );
  t.equal(agentNameAt(long, 12).length, 64);
  for (const [present, wanted, is] of [
    ['box', 'box', true],
    ['box-2', 'box', true],
    [agentNameAt(long, 2), long, true],
    ['box-2', 'boxes', false],
    ['box', 'other', false],
  ] as const)
    t.equal(isNameOf(present, wanted), is, `${present} for ${wanted}`);
});

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import { xtermScreens } from '../../../src/adapters/xterm/headless-terminals.ts';
import { terminalLeases } from '../../../src/app/terminals/cleanup/terminal-leases.ts';
import type { TerminalTarget } from '../../../src/app/terminals/opening/locate-terminal.ts';
import type { LiveTerminal } from '../../../src/app/terminals/terminal-connections.ts';
import { TerminalRegistry } from '../../../src/app/terminals/terminal-registry.ts';
import { type TerminalKey, terminalKey } from '../../../src/domain/terminals/terminal.ts';
import { silentLog } from '../../support/samples/samples.ts';
import { fakeTerminals } from '../../support/terminal/terminals.ts';

/** A process's terminals without a multiplexer, in a container of Ada's. */
function aRegistry() {
  let nowMs = 0;
  const backend = fakeTerminals({ muxed: false });
  const me = { replica: randomUUID(), runId: randomUUID() };
  const leases = terminalLeases(memoryPorts().storage.repositories.terminalLeases, me, () => nowMs);
  const registry = new TerminalRegistry({
    leases,
    log: silentLog,
    monotonicMs: () => nowMs,
    listener: { opened: () => {}, emptied: () => {} },
    screens: xtermScreens,
  });
  const handle = { node: 'n', runtimeId: 'r' };
  const targetOf = (pane: string): TerminalTarget => ({
    key: terminalKey('r', 'ada', pane),
    userId: 'ada',
    dbId: 'd',
    handle,
    runtimeId: 'r',
    muxSession: pane,
    isMain: false,
    size: { cols: 80, rows: 24 },
    participation: null,
    open: (start) => backend.open(handle, { cols: 80, rows: 24, muxSession: pane, shell: 'sh', ...start }),
    endSession: async () => {},
  });
  return {
    registry,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** A client's terminal, whose connection it loses at once. */
    async lost(pane: string, recordedAt: Date | null = null) {
      const target = targetOf(pane);
      const terminal = { id: randomUUID(), key: target.key, recordedAt } as unknown as LiveTerminal;
      await registry.connect(target, { terminal, resumes: null, forceNew: false, started: () => {} });
      registry.shown(target, terminal.id);
      registry.leave(target, terminal.id, 'lost');
      return { key: target.key };
    },
  };
}

t.test('a user with very many lost clients keeps the newest terminals only', async (t) => {
  const { registry, pass, lost } = aRegistry();
  const keys: TerminalKey[] = [];
  for (let pane = 0; pane < 258; pane += 1) {
    keys.push((await lost(`pane-${pane}`)).key);
    pass(1);
  }
  registry.tick();
  const [first, second, third] = keys.map((key) => registry.has(key));
  t.same([first, second, third], [false, false, true]);
  t.equal(registry.targets().length, 256);
  await registry.idle();
});

t.test('the terminal of a lost client has its place in time', async (t) => {
  const { registry, lost } = aRegistry();
  const recordedAt = new Date(1_000);
  t.equal(registry.lostAt((await lost('pane', recordedAt)).key), recordedAt);
  t.equal(registry.lostAt((await lost('pane')).key), recordedAt, 'also when a later one was never on record');
  t.equal(registry.lostAt((await lost('unknown')).key), null, 'none without a record');
});

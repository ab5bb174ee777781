import t from 'tap';
import {
  connectionIdFaults,
  isTerminalSize,
  muxSessionName,
  terminalKey,
} from '../../src/domain/terminal.ts';

t.test('the key names container, user and connection, also for agents with colons in their id', async (t) => {
  t.equal(terminalKey('abc', 'u', 'main'), 'abc:u:main');
  t.equal(terminalKey('agent:1', 'u', 'pane2'), 'agent:1:u:pane2');
});

t.test('a screen is 1 to 1000 cells each way', async (t) => {
  for (const size of [
    { cols: 1, rows: 1 },
    { cols: 1000, rows: 1000 },
  ]) {
    t.ok(isTerminalSize(size));
  }
  for (const cols of [0, -1, 1001, 2 ** 32, 1.5, Number.NaN])
    t.notOk(isTerminalSize({ cols, rows: 24 }), String(cols));
});

t.test('a connection id is 1 to 64 safe characters', async (t) => {
  for (const id of ['main', 'pane_2', 'A-z', 'x'.repeat(64)]) t.same(connectionIdFaults(id), {}, id);
  for (const id of ['', 'a b', 'a:b', 'x'.repeat(65), '../a', 'é']) {
    t.match(connectionIdFaults(id), { connection_id: String }, JSON.stringify(id));
  }
});

t.test('the main pane keeps its session; others have one each', async (t) => {
  t.equal(muxSessionName('main'), 'main');
  t.not(muxSessionName('a'), muxSessionName('b'));
  t.not(muxSessionName('x'), 'main');
});

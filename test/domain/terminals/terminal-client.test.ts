import t from 'tap';
import {
  type ShownTerminal,
  terminalClient,
  viewersOf,
} from '../../../src/domain/terminals/terminal-client.ts';

t.test('a user agent distinguishes a browser from a program', async (t) => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0';
  t.equal(terminalClient(false, chrome), 'browser');
  t.equal(terminalClient(false, 'berth/1.0 node/22'), 'command');
  t.equal(terminalClient(false, 'curl Mozilla/5.0'), 'command');
  t.equal(terminalClient(false, ''), 'command');
  t.equal(terminalClient(true, chrome), 'ssh');
});

const owners = (muxSession: string | null, dbId = 'a'): ShownTerminal => ({ dbId, owner: true, muxSession });
const participants = (muxSession: string, dbId = 'a'): ShownTerminal => ({ dbId, owner: false, muxSession });

t.test('viewers are the other terminals with the same session', async (t) => {
  for (const [others, of, viewers] of [
    [[], owners('main'), 0],
    [[owners('main')], owners('main'), 1],
    [[owners('pane-x'), owners('main', 'b')], owners('main'), 0],
    [[participants('user-1'), participants('main')], owners('main'), 2],
    [[owners('main')], participants('user-1'), 1],
    [[participants('user-1')], owners('pane-x'), 0],
    [[owners(null)], owners(null), 0],
  ] as const)
    t.equal(viewersOf([of, ...others])(of), viewers, JSON.stringify([of, others]));
});

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { main } from '../../src/cli/main.ts';
import { leftTerminals } from '../../src/cli/state/left-terminals.ts';
import { standingTime } from '../support/time.ts';

const PLACE = { session: 'main', stream: 's', after: 7, inputOffset: 3 };
const MINUTE_MS = 60_000;

t.test(
  'typed keys are stored only while they may be missing, and any later command removes them',
  async (t) => {
    const time = standingTime(t);
    const env = { XDG_STATE_HOME: t.testdir() };
    const file = path.join(env.XDG_STATE_HOME, 'berth', 'terminals.json');
    const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : null);
    const left = leftTerminals(env);
    left.keep('one', { ...PLACE, input: '' });
    t.notMatch(text(), 'input"');
    t.same(left.take('one'), { ...PLACE, input: '' });
    t.equal(text(), null);
    left.keep('two', { ...PLACE, input: 'c2VjcmV0' });
    time.pass(3 * MINUTE_MS);
    left.keep('three', { ...PLACE, input: '' });
    const none = { write: () => true };
    const aCommand = () => main(['--version'], { env, out: none, err: none } as never);
    await aCommand();
    t.match(text(), 'c2VjcmV0', 'the next shell may still come');
    time.pass(3 * MINUTE_MS);
    await aCommand();
    t.notMatch(text(), 'c2VjcmV0');
    t.match(text(), 'three');
    time.pass(3 * MINUTE_MS);
    await aCommand();
    t.equal(text(), null);
  },
);

import t from 'tap';
import { waitFor } from '../../support/patience.ts';
import { aStudio, castOf } from '../../support/terminal/recordings.ts';

t.test('a recording that goes on in another window draws its screen at the size of that', async (t) => {
  const { open, pty, record, call, cast } = await aStudio(t, { muxed: true });
  const first = await open({ cols: 80, rows: 24 });
  const { id } = (await record()).json();
  pty().say('before');
  await first.until(() => first.output().toString().endsWith('before'));
  first.socket.terminate();
  const second = await open({ cols: 120, rows: 40 });
  pty().say('after');
  await second.until(() => second.output().toString().endsWith('after'));
  await waitFor(async () => (await call('POST', `/api/recordings/${id}/stop`)).json().state === 'ended');
  const { events } = castOf(await cast(id));
  const at = (kind: string, part: string) =>
    events.findIndex(([, one, data]) => one === kind && data.includes(part));
  t.ok(at('r', '120x40') >= 0, 'the new size');
  t.ok(at('r', '120x40') < at('o', '\x1bc'), 'is there before the screen is cleared and drawn');
});

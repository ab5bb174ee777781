import { readFileSync } from 'node:fs';
import t from 'tap';
import { eventFrame, RESYNC_FRAME } from '../../src/adapters/websocket/events/event-frames.ts';

const page = readFileSync('docs/events.md', 'utf8');

t.test('the messages of docs/events.md are such as are sent', async (t) => {
  const [, shown = ''] = /```json\n(.*)\n```/.exec(page) ?? [];
  const { type, data, id, time } = JSON.parse(shown);
  const event = { type, data, id, time: new Date(time), dbId: data.db_id, audience: [] };
  t.equal(String(eventFrame(event)), shown);
  t.ok(page.includes(`\`${RESYNC_FRAME}\``));
});

t.test('pages that it points to are there', async (t) => {
  for (const [, target = ''] of page.matchAll(/\]\(([\w/-]+\.md)[^)]*\)/g)) {
    t.ok(readFileSync(`docs/${target}`, 'utf8').length > 0, target);
  }
});

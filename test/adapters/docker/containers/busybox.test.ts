import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import {
  aBox,
  type Box,
  filesContract,
  links,
  special,
  uploads,
} from '../../../contract/containers/files.ts';
import { aTerminal } from '../../../contract/terminals/terminal-backend.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { needs } from '../../../support/run/needs.ts';

const engine = await engineOrSkip(t);
const busybox = engine && (await needs(t, 'busybox'));
if (engine !== null && busybox !== null) {
  const instance = { ...(await testInstance(t, engine)), image: busybox.inPlaceOfTools };
  const box = await aBox(instance);
  await t.test('BusyBox: an image with nothing else', async (t) => {
    t.match(await box.sh('tar --help 2>&1; :'), /BusyBox/);
  });
  await t.test('BusyBox: files', (t) => filesContract(t, box.files));
  await t.test('BusyBox: links are not followed out of the workspace', (t) => links(t, box));
  await t.test('BusyBox: what is neither file nor folder', (t) => special(t, box));
  await t.test('BusyBox: uploads', (t) => uploads(t, box));
  await t.test('BusyBox: terminals that are closed together end', (t) => ended(t, instance, box));
  await t.test('BusyBox: figures', async (t) => {
    const usage = await instance.insight.usage(box.handle);
    t.ok(usage.diskBytes !== null && usage.diskBytes > 0);
    t.ok(usage.cpuMillicores >= 0);
    t.match(await instance.insight.changes(box.handle), { complete: true, debian: [] });
  });
}

async function ended(t: Test, { terminals }: TestInstance, { handle, sh }: Box): Promise<void> {
  const marks = [randomUUID(), randomUUID(), randomUUID()];
  const left = async (): Promise<readonly string[]> => (await terminals.leftovers(handle)).marks;
  await sh(`for mark in ${marks.join(' ')}; do
    BERTH_TERM=$mark setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
  done`);
  t.same([...(await left())].sort(), [...marks].sort());
  await Promise.all(marks.map((mark) => terminals.endMarked(handle, mark)));
  t.same(await left(), []);

  const panes = ['pane-a', 'pane-b', 'pane-c'];
  const given = () => ({ shell: '/bb/sh', marker: randomUUID() });
  const open = await Promise.all(panes.map((pane) => terminals.open(handle, aTerminal(pane, given()))));
  t.equal(new Set(await left()).size, open.length);
  await Promise.all(open.map((pty) => pty.close()));
  t.same(await left(), []);
  await Promise.all(panes.map((pane) => terminals.killMuxSession(handle, pane)));
  t.same((await terminals.leftovers(handle)).sessions, []);
}

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { isRoot, mountsBelow } from '../../../../src/adapters/docker/host/host-commands.ts';
import { layoutOf } from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { endView, openView } from '../../../../src/adapters/docker/resource-view/resource-view.ts';
import { aFolder } from '../../../support/folder.ts';
import { silentLog } from '../../../support/samples/samples.ts';

type Opened = {
  /** What containers mount as `/proc/uptime`. */
  readonly source: string;
  readonly repair: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** The view of a data folder, as its engine opens it, without the installation of lxcfs. */
async function opened(t: Test, dataDir: string): Promise<Opened> {
  const at = layoutOf(dataDir);
  const stop = (): Promise<void> => endView(at);
  t.teardown(stop);
  const { mounts, supervise } = await openView(at, 'auto', { progress: () => {}, log: silentLog }, false);
  const source = mounts.find(({ Target }) => Target === '/proc/uptime')?.Source ?? 'no mount';
  return { source, repair: supervise, stop };
}

/** Whether a container could mount it: its engine refuses a missing source. */
const isShown = (source: string): boolean => existsSync(source) && /^\d/.test(readFileSync(source, 'utf8'));

const viewOf = (source: string): string => source.slice(0, source.indexOf('/shown/'));

if (!isRoot()) t.pass('the resource view', { skip: 'mounts need root' });
else {
  t.test('a moved data folder keeps its view, and the next one at its path has another', async (t) => {
    const [old, moved] = ['old', 'moved'].map((name) => path.join(aFolder(t), name)) as [string, string];
    const before = await opened(t, old);
    await before.stop();
    renameSync(old, moved);
    const after = await opened(t, moved);
    t.equal(after.source, before.source, 'its containers have it as a source');
    const other = await opened(t, old);
    t.not(other.source, after.source);
    await other.stop();
    t.ok(isShown(after.source), 'a stop of the other leaves it');
    t.notOk(existsSync(viewOf(other.source)));
  });

  t.test('a copy of a data folder shares the view, which ends with the last of them', async (t) => {
    const [one, copy] = ['one', 'copy'].map((name) => path.join(aFolder(t), name)) as [string, string];
    const first = await opened(t, one);
    cpSync(one, copy, { recursive: true });
    const second = await opened(t, copy);
    t.equal(second.source, first.source, 'the copied containers have it as a source too');
    await first.stop();
    t.ok(isShown(first.source));
    await second.stop();
    t.notOk(existsSync(viewOf(first.source)));
    t.same(await mountsBelow(viewOf(first.source)), []);
  });

  t.test('a view that another program removed is made again', async (t) => {
    const { source, repair, stop } = await opened(t, path.join(aFolder(t), 'data'));
    await stop();
    t.notOk(isShown(source));
    await repair();
    t.ok(isShown(source));
  });

  t.test('a view that cannot be claimed is a fault to report, never one to throw', async (t) => {
    const dataDir = path.join(aFolder(t), 'data');
    const { source, repair, stop } = await opened(t, dataDir);
    await stop();
    const inTheWay = path.join(viewOf(source), 'owners');
    mkdirSync(viewOf(source));
    writeFileSync(inTheWay, '');
    await repair();
    const settings = { progress: () => {}, log: silentLog };
    const { mounts, fault } = await openView(layoutOf(dataDir), 'auto', settings, false);
    t.same(mounts, []);
    t.match(await fault(), /^its files cannot be mounted: .*owners/);
    rmSync(inTheWay);
  });
}

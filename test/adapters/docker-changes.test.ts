import t from 'tap';
import { lossReport } from '../../src/domain/changes.ts';
import { aSpec, shellIn } from '../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../support/engine/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const { runtime, insight, image } = await testInstance(t, engine);
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  const files = async () => lossReport(await insight.changes(handle)).files.map(({ path }) => path);
  const sh = shellIn(runtime, handle);

  await t.test('a container that nobody has changed loses nothing', async (t) => {
    t.same(await files(), []);
    await sh('echo data > /workspace/data');
    t.same(await files(), [], 'what is on the volume is not lost');
  });
  await t.test('one empty file is noticed', async (t) => {
    await sh('touch /opt/empty');
    t.same(await files(), ['/opt/empty']);
    await sh('rm /opt/empty');
    t.same(await files(), []);
  });
  await t.test('and so is one that is missing', async (t) => {
    await sh('rm /etc/issue');
    t.same(await files(), ['/etc/issue']);
    await runtime.stop(handle, 1);
    t.same(await files(), ['/etc/issue'], 'also of a stopped container');
  });
}

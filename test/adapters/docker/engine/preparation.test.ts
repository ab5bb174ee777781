import t from 'tap';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { prepareBaseImage } from '../../../../src/app/main/engine/base-image.ts';
import type { PartState } from '../../../../src/app/main/health/readiness.ts';
import { engineOrSkip, testInstance } from '../../../support/engine/engine.ts';
import { faultyEngine } from '../../../support/engine/faulty-engine.ts';
import { eventually } from '../../../support/patience.ts';
import { silentLog } from '../../../support/silent-log.ts';

const IMAGE = /\/images\/berth/;
const VOLUMES = /\/volumes\/create/;

t.test('what failed at the start is tried again by itself', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const { instanceId, network } = await testInstance(t, engine);
  const faulty = await faultyEngine(t, engine.endpoint, IMAGE);
  const far = await probe(addressOf(faulty.endpoint, null));
  if (!far.answers) throw new Error(far.detail);
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const parts: { image: PartState } = { image: { status: 'down', detail: 'is being prepared' } };
  const ready: string[] = [];
  const { background } = await prepareBaseImage({
    ...{ docker: far.docker, reference: engine.image, network: network.name, instanceId, parts },
    log: silentLog,
    signal: ending.signal,
    firstRetryMs: 20,
    onImage: () => ready.push('image'),
    onTools: () => ready.push('tools'),
  });
  t.match(parts.image, { status: 'degraded', mend: /keeps retrying/ });
  faulty.fail(VOLUMES);
  t.match(
    await eventually(
      () => parts.image.detail,
      (detail) => /without tmux/.test(detail),
    ),
    /without tmux/,
    'the image is there',
  );
  t.same(ready, ['image']);
  faulty.fail(null);
  await background;
  t.same(ready, ['image', 'tools'], 'images without tmux get sessions');
  t.equal(parts.image.status, 'ready');
  t.match(faulty.failed.join(), /images.*volumes/, 'both failed before');
});

import t, { type Test } from 'tap';
import { pullImage } from '../../../../src/adapters/docker/images/pull-image.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { aRegistry, type Registry } from '../../../support/engine/registry.ts';

const MIB = 1_048_576;
const limits = { firstAnswerSeconds: 30, pullSeconds: 60, maxBytes: 2 * MIB };

const engine = await engineOrSkip(t);
if (engine?.isLocal) {
  const instance = await testInstance(t, engine);
  const registry = await aRegistry(t);
  await t.test('docker: an image is pulled when a container needs it', (t) => pulls(t, instance, registry));
  await t.test('docker: a digest is exactly that image', (t) => pins(t, instance, registry));
  await t.test('docker: a pull has limits', (t) => limited(t, instance, registry));
}

async function pulls(t: Test, instance: TestInstance, { host }: Registry): Promise<void> {
  const image = `${host}/small:1`;
  const handle = await instance.runtime.create(aSpec(image));
  t.equal((await instance.runtime.observe(handle)).kind, 'stopped');
  await instance.runtime.remove(handle);
  await instance.docker.getImage(image).remove();
  await t.rejects(instance.runtime.create(aSpec(`${host}/absent:1`)), { name: 'ImageUnavailable' });
}

async function pins(t: Test, instance: TestInstance, { host, digest }: Registry): Promise<void> {
  const handle = await instance.runtime.create(aSpec(`${host}/small:1@${digest}`));
  await instance.runtime.remove(handle);
  const other = `${host}/small:1@sha256:${'0'.repeat(64)}`;
  await t.rejects(
    instance.runtime.create(aSpec(other)),
    { name: 'ImageUnavailable' },
    'whatever the tag says',
  );
}

async function limited(t: Test, { docker }: TestInstance, { host }: Registry): Promise<void> {
  const pull = (name: string, over: Partial<typeof limits> = {}) =>
    pullImage(docker, `${host}/${name}:1`, () => {}, { limits: { ...limits, ...over } });
  await t.rejects(pull('huge'), { message: /larger than/ }, 'one that says how large it is');
  await t.rejects(pull('bomb'), { message: /larger than/ }, 'one that does not');
  const kept = await docker.listImages({ filters: { reference: [`${host}/bomb:1`] } });
  t.equal(kept.length, 0, 'and it is not kept');
  await t.rejects(pull('silent', { firstAnswerSeconds: 1, pullSeconds: 1 }), {
    message: /no answer in time/,
  });
  await t.rejects(pull('huge', { pullSeconds: 1, maxBytes: 2 ** 50 }), { message: /no answer in time/ });
}

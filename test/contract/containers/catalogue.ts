import t, { type Test } from 'tap';
import {
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  installsSomething,
} from '../../../src/domain/containers/catalogue.ts';
import type { CatalogueEdits } from '../../../src/ports/containers/catalogue-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { aNewContainer, storedUser } from '../../support/database/stored.ts';
import { aTier } from '../../support/samples/samples.ts';
import { valuesOf } from '../../support/values.ts';

/** The catalogue's initial entries. */
export async function catalogueRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { catalogue, containers } = storage.repositories;

  await t.test(`${name}: the tiers are the documented ones, smallest first`, async (t) => {
    const of = (
      max: number,
      cpu: number,
      disk: number,
      layerMb: number,
      maxContainers: number,
      maxAgents: number,
      maxSnapshots: number,
      snapshotMb: number,
      perMinute: number,
      n: number,
    ) => ({
      memoryMb: { min: 256, max },
      cpuMillicores: { min: 100, max: cpu },
      diskMb: { min: 512, max: disk },
      layerMb,
      maxContainers,
      maxAgents,
      maxSnapshots,
      snapshotMb,
      maxTtlSeconds: 0,
      maxIdleSeconds: 0,
      requestsPerMinute: perMinute,
      maxTerminals: n * 2,
      maxEventSockets: n * 2,
      maxCommands: n,
      maxUploads: n / 2,
      maxDownloads: n,
    });
    const tiers = [
      { name: 'guest', ...of(512, 500, 2048, 2048, 1, 0, 1, 2048, 600, 8) },
      { name: 'free', ...of(2048, 2000, 10_240, 2048, 5, 2, 5, 10_240, 1200, 32) },
      { name: 'pro', ...of(4096, 4000, 20_480, 8192, 10, 10, 20, 40_960, 2400, 64) },
      { name: 'enterprise', ...of(8192, 8000, 51_200, 16_384, 20, 25, 50, 204_800, 6000, 128) },
    ];
    t.same(await catalogue.tiers(), tiers);
    t.same(await catalogue.tier('pro'), tiers[2]);
    t.equal(await catalogue.tier('gold'), null);
  });

  await t.test(`${name}: the default image and role exist`, async (t) => {
    const image = (await catalogue.images()).find(({ key }) => key === DEFAULT_IMAGE_KEY);
    t.match(image, { label: String, reference: 'berth/debian:12', digest: null, shell: '/bin/bash' });
    t.ok((await catalogue.roles()).some(({ key }) => key === DEFAULT_ROLE_KEY));
  });

  await t.test(`${name}: the six roles exist, and the default one installs nothing`, async (t) => {
    const roles = await catalogue.roles();
    t.same(valuesOf(roles, 'key'), ['standard', 'devops', 'go', 'node', 'python', 'rust']);
    t.same(
      valuesOf(
        roles.filter((role) => !installsSomething(role)),
        'key',
      ),
      ['standard'],
    );
    t.match(await catalogue.role('python'), {
      label: 'Python',
      packages: { apt: ['python3'] },
      script: null,
    });
    t.equal(await catalogue.role('cobol'), null);
  });

  await t.test(`${name}: entries are written completely, and once per key`, async (t) => {
    const tier = { ...aTier({ name: 'tiny' }), maxAgents: 0 };
    const image = {
      key: 'a',
      label: 'A',
      reference: 'a:1',
      digest: `sha256:${'0'.repeat(64)}`,
      shell: '/bin/sh',
    };
    const role = { key: 'a', label: 'A', packages: { apk: ['b'], apt: [] }, script: 'true' };
    const { editing } = catalogue;
    await checkEdits(t, editing.tier, 'tiny', tier, {
      ...tier,
      maxContainers: 9,
      maxUploads: 3,
      diskMb: { min: 1, max: 2 },
    });
    await checkEdits(t, editing.image, 'a', image, { ...image, reference: 'a:2', digest: null });
    await checkEdits(t, editing.role, 'a', role, { ...role, packages: {}, script: null });
  });

  await t.test(`${name}: used entries are known; a deleted row uses none`, async (t) => {
    const { editing } = catalogue;
    const { id } = await storedUser(storage);
    const before = { image: await editing.image.isUsed('b'), role: await editing.role.isUsed('go') };
    t.same(before, { image: false, role: false });
    const box = { ...aNewContainer(id), imageKey: 'b', role: 'go' };
    await containers.insert(box);
    t.equal(await editing.image.isUsed('b'), true);
    t.equal(await editing.role.isUsed('go'), true);
    await containers.changeState(box.dbId, ['creating'], { state: 'deleted' });
    t.equal(await editing.image.isUsed('b'), false);
    t.equal(await editing.role.isUsed('go'), false);
    t.equal(await editing.tier.isUsed('free'), true);
    t.equal(await editing.tier.isUsed('pro'), false);
  });

  await t.test(`${name}: a container's image and role stay while it is made`, async (t) => {
    t.equal(await catalogue.keep('debian', 'go'), true);
    t.equal(await catalogue.keep('debian', 'cobol'), false);
    t.equal(await catalogue.keep('windows', 'go'), false);
  });
}

/** An entry that is made, changed and removed again. */
async function checkEdits<T>(
  t: Test,
  edits: CatalogueEdits<T>,
  key: string,
  entry: T,
  changed: T,
): Promise<void> {
  t.equal(await edits.findForUpdate(key), null);
  t.equal(await edits.insert(entry), true);
  t.equal(await edits.insert(changed), false, 'the key is taken');
  t.same(await edits.findForUpdate(key), entry);
  await edits.replace(changed);
  t.same(await edits.findForUpdate(key), changed);
  t.equal(await edits.isUsed(key), false);
  await edits.remove(key);
  await edits.remove(key);
  t.equal(await edits.findForUpdate(key), null);
}

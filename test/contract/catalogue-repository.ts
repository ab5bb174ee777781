import t from 'tap';
import { DEFAULT_IMAGE_KEY, DEFAULT_ROLE_KEY } from '../../src/domain/catalogue.ts';
import type { Storage } from '../../src/ports/repositories.ts';

/** What the catalogue must hold from the start. */
export async function catalogueRepositoryContract(name: string, { repositories }: Storage): Promise<void> {
  const { catalogue } = repositories;

  await t.test(`${name}: the tiers are those that were decided, smallest first`, async (t) => {
    const of = (max: number, cpu: number, disk: number, maxContainers: number, maxAgents: number) => ({
      memoryMb: { min: 256, max },
      cpuMillicores: { min: 100, max: cpu },
      diskMb: { min: 512, max: disk },
      maxContainers,
      maxAgents,
    });
    const tiers = [
      { name: 'guest', ...of(512, 500, 2048, 1, 0) },
      { name: 'free', ...of(2048, 2000, 10_240, 5, 2) },
      { name: 'pro', ...of(4096, 4000, 20_480, 10, 10) },
      { name: 'enterprise', ...of(8192, 8000, 51_200, 20, 25) },
    ];
    t.same(await catalogue.tiers(), tiers);
    t.same(await catalogue.tier('pro'), tiers[2]);
    t.equal(await catalogue.tier('gold'), null);
  });

  await t.test(`${name}: the default image and role are there`, async (t) => {
    const image = (await catalogue.images()).find(({ key }) => key === DEFAULT_IMAGE_KEY);
    t.match(image, { label: String, reference: 'berth/debian:12', digest: null, shell: '/bin/bash' });
    t.ok((await catalogue.roles()).some(({ key }) => key === DEFAULT_ROLE_KEY));
  });
}

import type { Range, Tier } from '../../../domain/resources.ts';
import type { CatalogueRepository } from '../../../ports/catalogue-repository.ts';
import { ImageList, RoleList, TierList } from '../schema/containers.ts';
import type { Routes } from '../server.ts';

const read = { scope: 'read' } as const;

export const catalogueRoutes =
  (catalogue: CatalogueRepository): Routes =>
  (http) => {
    http.get('/api/images', { config: read, schema: { response: { 200: ImageList } } }, async () => ({
      images: [...(await catalogue.images())],
    }));

    http.get('/api/roles', { config: read, schema: { response: { 200: RoleList } } }, async () => ({
      roles: [...(await catalogue.roles())],
    }));

    http.get('/api/tiers', { config: read, schema: { response: { 200: TierList } } }, async () => ({
      tiers: (await catalogue.tiers()).map(toTierBody),
    }));
  };

const range = ({ min, max }: Range) => ({ min, max });

const toTierBody = (tier: Tier): TierList['tiers'][number] => ({
  name: tier.name,
  memory_mb: range(tier.memoryMb),
  cpu_shares: range(tier.cpuMillicores),
  disk_mb: range(tier.diskMb),
  max_containers: tier.maxContainers,
  max_agents: tier.maxAgents,
});

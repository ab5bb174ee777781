import type { Kysely } from 'kysely';
import type { Tier } from '../../domain/resources.ts';
import type { CatalogueRepository } from '../../ports/catalogue-repository.ts';
import type { Database, TierRow } from './schema.ts';

export const postgresCatalogue = (db: Kysely<Database>): CatalogueRepository => ({
  async tiers() {
    return (await db.selectFrom('tiers').selectAll().orderBy('position').execute()).map(toTier);
  },

  async tier(name) {
    const row = await db.selectFrom('tiers').selectAll().where('name', '=', name).executeTakeFirst();
    return row === undefined ? null : toTier(row);
  },

  images: () => db.selectFrom('images').selectAll().orderBy('key').execute(),

  roles: () => db.selectFrom('roles').selectAll().orderBy('key').execute(),
});

const toTier = (row: TierRow): Tier => ({
  name: row.name,
  memoryMb: { min: row.min_memory_mb, max: row.max_memory_mb },
  cpuMillicores: { min: row.min_cpu_millicores, max: row.max_cpu_millicores },
  diskMb: { min: row.min_disk_mb, max: row.max_disk_mb },
  maxContainers: row.max_containers,
  maxAgents: row.max_agents,
});

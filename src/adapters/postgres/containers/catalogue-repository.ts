import type { Selectable } from 'kysely';
import {
  compareTiers,
  DEFAULT_IMAGE_KEY,
  DEFAULT_ROLE_KEY,
  defaultFirst,
  type Image,
  type Role,
} from '../../../domain/containers/catalogue.ts';
import type { Tier } from '../../../domain/containers/resources.ts';
import type { CatalogueEdits, CatalogueRepository } from '../../../ports/containers/catalogue-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db, RolesTable, TierRow } from '../schema/database-schema.ts';
import { toUseLimits, USE_LIMITS } from '../shared-columns.ts';
import { changedOne, firstAs, run } from '../sql.ts';

export const postgresCatalogue = (db: Db): CatalogueRepository => ({
  async tiers() {
    const rows = await db.selectFrom('tiers').selectAll().execute();
    return rows.map(toTier).sort(compareTiers);
  },

  tier: (name) => db.selectFrom('tiers').selectAll().where('name', '=', name).$call(firstAs(toTier)),

  async images() {
    const rows = await db.selectFrom('images').selectAll().execute();
    return rows.sort(defaultFirst(DEFAULT_IMAGE_KEY));
  },

  async roles() {
    const rows = await db.selectFrom('roles').selectAll().execute();
    return rows.map(toRole).sort(defaultFirst(DEFAULT_ROLE_KEY));
  },

  role: (key) => db.selectFrom('roles').selectAll().where('key', '=', key).$call(firstAs(toRole)),

  async keep(imageKey, roleKey) {
    const [image, role] = await Promise.all([
      db.selectFrom('images').select('key').where('key', '=', imageKey).forKeyShare().execute(),
      db.selectFrom('roles').select('key').where('key', '=', roleKey).forKeyShare().execute(),
    ]);
    return image.length === 1 && role.length === 1;
  },

  editing: { tier: tierEdits(db), image: imageEdits(db), role: roleEdits(db) },
});

const tierEdits = (db: Db): CatalogueEdits<Tier> => ({
  insert: (tier) =>
    db
      .insertInto('tiers')
      .values(fromTier(tier))
      .onConflict((conflict) => conflict.column('name').doNothing())
      .$call(changedOne),
  findForUpdate: (name) =>
    db.selectFrom('tiers').selectAll().where('name', '=', name).forUpdate().$call(firstAs(toTier)),
  async replace(tier) {
    const { name, ...limits } = fromTier(tier);
    await db.updateTable('tiers').set(limits).where('name', '=', name).execute();
  },
  async isUsed(name) {
    const user = db.selectFrom('users').select('id').where('tier', '=', name).limit(1);
    return (await user.execute()).length > 0;
  },
  remove: (name) => db.deleteFrom('tiers').where('name', '=', name).$call(run),
});

const imageEdits = (db: Db): CatalogueEdits<Image> => ({
  insert: (image) =>
    db
      .insertInto('images')
      .values(image)
      .onConflict((conflict) => conflict.column('key').doNothing())
      .$call(changedOne),
  async findForUpdate(key) {
    const row = await db
      .selectFrom('images')
      .selectAll()
      .where('key', '=', key)
      .forUpdate()
      .executeTakeFirst();
    return row ?? null;
  },
  replace: ({ key, label, reference, digest, shell }) =>
    db.updateTable('images').set({ label, reference, digest, shell }).where('key', '=', key).$call(run),
  isUsed: (key) => hasLive(db, 'image_key', key),
  remove: (key) => db.deleteFrom('images').where('key', '=', key).$call(run),
});

const roleEdits = (db: Db): CatalogueEdits<Role> => ({
  insert: (role) =>
    db
      .insertInto('roles')
      .values({ ...role, packages: JSON.stringify(role.packages) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .$call(changedOne),
  findForUpdate: (key) =>
    db.selectFrom('roles').selectAll().where('key', '=', key).forUpdate().$call(firstAs(toRole)),
  async replace({ key, label, packages, script }) {
    const row = { label, packages: JSON.stringify(packages), script };
    await db.updateTable('roles').set(row).where('key', '=', key).execute();
  },
  isUsed: (key) => hasLive(db, 'role', key),
  remove: (key) => db.deleteFrom('roles').where('key', '=', key).$call(run),
});

async function hasLive(db: Db, column: 'image_key' | 'role', key: string): Promise<boolean> {
  const live = db.selectFrom('containers').select('db_id').where('state', '<>', 'deleted');
  return (await live.where(column, '=', key).limit(1).execute()).length > 0;
}

const TIER = 'name layerMb maxContainers maxAgents maxSnapshots snapshotMb maxTtlSeconds maxIdleSeconds';

const tierFields = fromColumns(TIER);

const toTier = (row: TierRow): Tier => ({
  ...tierFields(row),
  memoryMb: { min: row.min_memory_mb, max: row.max_memory_mb },
  cpuMillicores: { min: row.min_cpu_millicores, max: row.max_cpu_millicores },
  diskMb: { min: row.min_disk_mb, max: row.max_disk_mb },
  ...toUseLimits(row),
});

const tierColumns = toColumns(TIER, USE_LIMITS);

const fromTier = ({ memoryMb, cpuMillicores, diskMb, ...tier }: Tier): TierRow => ({
  ...tierColumns(tier),
  min_memory_mb: memoryMb.min,
  max_memory_mb: memoryMb.max,
  min_cpu_millicores: cpuMillicores.min,
  max_cpu_millicores: cpuMillicores.max,
  min_disk_mb: diskMb.min,
  max_disk_mb: diskMb.max,
});

const toRole: (row: Selectable<RolesTable>) => Role = fromColumns('key label packages script');

import { sql } from 'kysely';
import { DEFAULT_SETTINGS, type Settings } from '../../domain/settings.ts';
import type { SettingsRepository } from '../../ports/settings-repository.ts';
import type { Db } from './schema/database-schema.ts';

export function postgresSettings(db: Db): SettingsRepository {
  async function read(): Promise<Settings> {
    const rows = await db.selectFrom('settings').select(['key', 'value']).execute();
    const stored = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
    return { ...DEFAULT_SETTINGS, ...stored };
  }

  return {
    read,
    async change(changes) {
      const rows = Object.entries(changes).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
      if (rows.length > 0) {
        await db
          .insertInto('settings')
          .values(rows)
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet({
              value: (eb) => eb.ref('excluded.value'),
              updated_at: sql<Date>`now()`,
            }),
          )
          .execute();
      }
      return await read();
    },
  };
}

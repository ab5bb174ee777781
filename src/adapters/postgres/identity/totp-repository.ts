import { type Selectable, sql } from 'kysely';
import type { TotpFactor } from '../../../domain/identity/second-factor.ts';
import type { TotpRepository } from '../../../ports/identity/totp-repository.ts';
import { fromColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { TotpFactorsTable } from '../schema/identity-tables.ts';
import { allAs, changedOne, firstAs, run } from '../sql.ts';

export const postgresFactors = (db: Db): TotpRepository => ({
  totp: (userId) =>
    db.selectFrom('totp_factors').selectAll().where('user_id', '=', userId).$call(firstAs(toFactor)),

  putPendingTotp: (userId, sealedSecret) =>
    db
      .insertInto('totp_factors')
      .values({ user_id: userId, sealed_secret: sealedSecret })
      .onConflict((conflict) =>
        conflict
          .column('user_id')
          .doUpdateSet({ sealed_secret: sealedSecret, created_at: sql<Date>`now()` })
          .where('totp_factors.confirmed_at', 'is', null),
      )
      .$call(changedOne),

  confirmTotp: (userId, sealedSecret, step) =>
    db
      .updateTable('totp_factors')
      .set({ confirmed_at: sql<Date>`now()`, last_step: step })
      .where('user_id', '=', userId)
      .where('sealed_secret', '=', sealedSecret)
      .where('confirmed_at', 'is', null)
      .$call(changedOne),

  acceptStep: (userId, step) =>
    db
      .updateTable('totp_factors')
      .set({ last_step: step })
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is not', null)
      .where('last_step', '<', step)
      .$call(changedOne),

  removeTotp: (userId) =>
    db
      .deleteFrom('totp_factors')
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is not', null)
      .$call(changedOne),

  allSecrets: () =>
    db
      .selectFrom('totp_factors')
      .select(['user_id', 'sealed_secret'])
      .$call(allAs(fromColumns('userId sealedSecret'))),

  replaceSecret: (userId, from, to) =>
    db
      .updateTable('totp_factors')
      .set({ sealed_secret: to })
      .where('user_id', '=', userId)
      .where('sealed_secret', '=', from)
      .$call(run),
});

const toFactor: (row: Selectable<TotpFactorsTable>) => TotpFactor = fromColumns(
  'sealedSecret confirmedAt lastStep',
);

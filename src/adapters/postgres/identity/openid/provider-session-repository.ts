import { type SqlBool, sql } from 'kysely';
import type { ProviderSessionRepository } from '../../../../ports/identity/openid/provider-session-repository.ts';
import { fromColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, firstAs, run } from '../../sql.ts';

/** An arbitrary number for an advisory lock. */
const SIGN_OUTS = 7_264_918;

const providerSessionFields = fromColumns('issuer subject sealedIdToken');

export const postgresProviderSessions = (db: Db): ProviderSessionRepository => ({
  ...sessions(db),
  ...signOuts(db),
});

const sessions = (db: Db): Pick<ProviderSessionRepository, 'insert' | 'find' | 'listOf'> => ({
  insert: (sessionId, { issuer, subject, sid, sealedIdToken }) =>
    db
      .insertInto('provider_sessions')
      .values({
        session_id: sessionId,
        issuer,
        subject,
        provider_sid: sid,
        sealed_id_token: sealedIdToken,
      })
      .$call(run),

  find: (sessionId) =>
    db
      .selectFrom('provider_sessions')
      .selectAll()
      .where('session_id', '=', sessionId)
      .$call(firstAs((row) => ({ ...providerSessionFields(row), sid: row.provider_sid }))),

  listOf: ({ issuer, subject, sid }) =>
    db
      .selectFrom('provider_sessions as p')
      .innerJoin('sessions as s', 's.id', 'p.session_id')
      .select(['s.id', 's.user_id'])
      .where('p.issuer', '=', issuer)
      .where('s.revoked_at', 'is', null)
      .$if(subject !== null, (query) => query.where('p.subject', '=', subject ?? ''))
      .$if(sid !== null, (query) =>
        query.where((eb) => {
          const named = eb('p.provider_sid', '=', sid ?? '');
          return subject === null ? named : eb.or([named, eb('p.provider_sid', 'is', null)]);
        }),
      )
      .orderBy('s.id')
      .$call(allAs(fromColumns('id userId'))),
});

const signOuts = (db: Db): Omit<ProviderSessionRepository, keyof ReturnType<typeof sessions>> => ({
  async noteSignOut({ issuer, subject, sid }, lifeMinutes) {
    await sql`select pg_advisory_xact_lock(${SIGN_OUTS})`.execute(db);
    await db.deleteFrom('provider_sign_outs').where('expires_at', '<=', sql<Date>`now()`).execute();
    const expires_at = sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`;
    const row = { issuer, subject, provider_sid: sid, expires_at };
    await db.insertInto('provider_sign_outs').values(row).execute();
  },

  async wasSignedOut({ issuer, subject, sid }, since) {
    await sql`select pg_advisory_xact_lock_shared(${SIGN_OUTS})`.execute(db);
    const found = await db
      .selectFrom('provider_sign_outs')
      .select('issuer')
      .where('issuer', '=', issuer)
      .where('at', '>', since)
      .where(
        sql<SqlBool>`(subject is null or subject = ${subject}) and (
          provider_sid is null or provider_sid = ${sid} or (${sid}::text is null and subject is not null)
        )`,
      )
      .limit(1)
      .execute();
    return found.length > 0;
  },

  async useLogoutToken(hash, lifeMinutes) {
    await db.deleteFrom('used_logout_tokens').where('expires_at', '<=', sql<Date>`now()`).execute();
    return await db
      .insertInto('used_logout_tokens')
      .values({
        hash,
        expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`,
      })
      .onConflict((conflict) => conflict.doNothing())
      .$call(changedOne);
  },
});

import { sql } from 'kysely';
import type { ProviderSessionRepository } from '../../../../ports/identity/openid/provider-session-repository.ts';
import { fromColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, firstAs, run } from '../../sql.ts';

const providerSessionFields = fromColumns('issuer subject sealedIdToken');

export const postgresProviderSessions = (db: Db): ProviderSessionRepository => ({
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

import { sql } from 'kysely';
import type { ProviderSessionRepository } from '../../../../ports/identity/openid/provider-session-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, changedOne, firstAs, run } from '../../sql.ts';

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
      .$call(
        firstAs((row) => ({
          issuer: row.issuer,
          subject: row.subject,
          sid: row.provider_sid,
          sealedIdToken: row.sealed_id_token,
        })),
      ),

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
      .$call(allAs((row) => ({ id: row.id, userId: row.user_id }))),

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

import { sql } from 'kysely';
import type { AgentEnrolmentRepository } from '../../../../ports/containers/agents/agent-enrolment-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { COUNT, countOf, firstAs, onlyAs, run } from '../../sql.ts';

const NOW = sql<Date>`now()`;

export const postgresAgentEnrolments = (db: Db): AgentEnrolmentRepository => ({
  async insert({ userId, codeHash, lifeSeconds }) {
    await db
      .deleteFrom('agent_enrolments')
      .where('user_id', '=', userId)
      .where('expires_at', '<=', NOW)
      .execute();
    return await db
      .insertInto('agent_enrolments')
      .values({
        user_id: userId,
        code_hash: codeHash,
        expires_at: sql<Date>`date_trunc('milliseconds', now()) + make_interval(secs => ${lifeSeconds})`,
      })
      .returning('expires_at')
      .$call(onlyAs((row) => row.expires_at));
  },

  count: (userId) =>
    db
      .selectFrom('agent_enrolments')
      .select(COUNT)
      .where('user_id', '=', userId)
      .where('expires_at', '>', NOW)
      .$call(countOf),

  userOf: (codeHash) =>
    db
      .selectFrom('agent_enrolments')
      .select('user_id')
      .where('code_hash', '=', codeHash)
      .where('expires_at', '>', NOW)
      .$call(firstAs(({ user_id }) => user_id)),

  take: (codeHash) =>
    db
      .deleteFrom('agent_enrolments')
      .where('code_hash', '=', codeHash)
      .where('expires_at', '>', NOW)
      .returning('user_id')
      .$call(firstAs(({ user_id }) => user_id)),

  endAll: (userId) => db.deleteFrom('agent_enrolments').where('user_id', '=', userId).$call(run),
});

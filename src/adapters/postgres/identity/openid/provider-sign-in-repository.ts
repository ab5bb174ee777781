import { type Selectable, type SqlBool, sql } from 'kysely';
import type { SignedOut } from '../../../../domain/identity/openid/logout-token.ts';
import type { ProviderClaims } from '../../../../domain/identity/openid/provider-sign-in.ts';
import type {
  ArrivedProviderSignIn,
  NewProviderSignIn,
  ProviderSignInRepository,
  StartedProviderSignIn,
} from '../../../../ports/identity/openid/provider-sign-in-repository.ts';
import { fromColumns, toColumns } from '../../columns.ts';
import type { Db } from '../../schema/database-schema.ts';
import type { ProviderSignInsTable, StoredClaims } from '../../schema/openid-tables.ts';
import { clockNow, firstAs, run } from '../../sql.ts';
import { sweepExpired } from '../sweep-expired.ts';

export const postgresProviderSignIns = (db: Db): ProviderSignInRepository => ({
  async insert(signIn, lifeMinutes) {
    await sweepExpired(db, 'provider_sign_ins', 'id');
    await db.insertInto('provider_sign_ins').values(toRow(signIn, lifeMinutes)).execute();
  },

  spend: (stateHash) =>
    db
      .updateTable('provider_sign_ins')
      .set({ spent_at: clockNow })
      .where('state_hash', '=', stateHash)
      .where('spent_at', 'is', null)
      .where('expires_at', '>', clockNow)
      .returningAll()
      .$call(firstAs(toStarted)),

  arrive: (id, claims, sealedIdToken) =>
    db
      .updateTable('provider_sign_ins')
      .set({ claims: JSON.stringify(claims), sealed_id_token: sealedIdToken })
      .where('id', '=', id)
      .$call(run),

  find: (id, browserHash) =>
    db
      .selectFrom('provider_sign_ins')
      .selectAll()
      .where('id', '=', id)
      .where(arrivedIn(browserHash))
      .$call(firstAs(toArrived)),

  finish: (id, browserHash) =>
    db
      .deleteFrom('provider_sign_ins')
      .where('id', '=', id)
      .where(arrivedIn(browserHash))
      .returningAll()
      .$call(firstAs(toArrived)),

  async endAll(whom) {
    await db.deleteFrom('provider_sign_ins').where(saysOf('claims', whom)).execute();
    await db.deleteFrom('pending_proofs').where(saysOf('provider', whom)).execute();
  },
});

const arrivedIn = (browserHash: Buffer) => sql<SqlBool>`(
  browser_hash = ${browserHash} and claims is not null and expires_at > clock_timestamp()
)`;

/** Whether a JSON column is about a person, or a session of the provider, that has been signed out. */
const saysOf = (column: 'claims' | 'provider', { issuer, subject, sid }: SignedOut) => sql<SqlBool>`(
  ${sql.ref(column)} ->> 'issuer' = ${issuer}
  and (${subject}::text is null or ${sql.ref(column)} ->> 'subject' = ${subject})
  and (
    ${sid}::text is null
    or ${sql.ref(column)} ->> 'sid' = ${sid}
    or (${sql.ref(column)} ->> 'sid' is null and ${subject}::text is not null)
  )
)`;

const toClaims = (stored: StoredClaims): ProviderClaims => ({
  ...stored,
  authTime: stored.authTime === null ? null : new Date(stored.authTime),
});

const signInColumns = toColumns(
  'stateHash browserHash purpose sessionId invitationHash nonce codeVerifier returnPath',
);

const toRow = (signIn: NewProviderSignIn, lifeMinutes: number) => ({
  ...signInColumns(signIn),
  expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${lifeMinutes})`,
});

const toStarted: (row: Selectable<ProviderSignInsTable>) => StartedProviderSignIn = fromColumns(
  'id stateHash browserHash purpose sessionId invitationHash nonce codeVerifier returnPath startedAt',
);

function toArrived(row: Selectable<ProviderSignInsTable>): ArrivedProviderSignIn {
  const { purpose, sessionId, invitationHash, startedAt } = toStarted(row);
  const { claims, sealed_id_token: sealedIdToken } = row;
  if (claims === null || sealedIdToken === null) throw new Error('a sign-in that has not arrived');
  return { purpose, sessionId, invitationHash, startedAt, claims: toClaims(claims), sealedIdToken };
}

import t from 'tap';
import { keepsWayIn } from '../../../src/domain/identity/openid/connected-identity.ts';
import { decideAcceptance } from '../../../src/domain/identity/openid/invited-person.ts';
import {
  decideArrival,
  signedInAgain,
  similarUsernames,
  usernameFrom,
} from '../../../src/domain/identity/openid/provider-sign-in.ts';
import { signedInLately } from '../../../src/domain/identity/session.ts';
import { usernameFaults } from '../../../src/domain/identity/user.ts';
import { aSession, aUser } from '../../support/samples/samples.ts';

const MATCH = { oidcCreateAccounts: false, oidcMatchByEmail: true };
const CREATE = { oidcCreateAccounts: true, oidcMatchByEmail: false };
const BOTH = { oidcCreateAccounts: true, oidcMatchByEmail: true };
const NONE = { oidcCreateAccounts: false, oidcMatchByEmail: false };
const ada = aUser();
const unopened = { user: ada, opened: false };
const ofRoot = { user: aUser({ role: 'admin' }), opened: false };
const identity = {
  id: 'i',
  userId: ada.id,
  issuer: 'https://id.example.org',
  subject: 'ada',
  email: null,
  createdAt: ada.createdAt,
  lastUsedAt: null,
};

t.test('a first sign-in needs a verified address and a setting, and takes over no account', async (t) => {
  const verified = { email: 'ada@example.org', emailVerified: true };
  const cases = [
    [verified, { identity, byAddress: null }, NONE, 'known'],
    [{ email: null, emailVerified: false }, { identity, byAddress: ofRoot }, NONE, 'known'],
    [verified, { identity: null, byAddress: unopened }, NONE, 'provider_no_account'],
    [verified, { identity: null, byAddress: unopened }, MATCH, 'match'],
    [verified, { identity: null, byAddress: { user: ada, opened: true } }, BOTH, 'provider_account_exists'],
    [verified, { identity: null, byAddress: unopened }, CREATE, 'provider_account_exists'],
    [verified, { identity: null, byAddress: ofRoot }, BOTH, 'provider_account_exists'],
    [verified, { identity: null, byAddress: null }, BOTH, 'create'],
    [verified, { identity: null, byAddress: null }, MATCH, 'provider_no_account'],
    [
      { ...verified, emailVerified: false },
      { identity: null, byAddress: unopened },
      BOTH,
      'provider_email_unverified',
    ],
    [{ ...verified, email: null }, { identity: null, byAddress: null }, BOTH, 'provider_email_unverified'],
    [
      { ...verified, email: 'no address' },
      { identity: null, byAddress: null },
      BOTH,
      'provider_email_unverified',
    ],
  ] as const;
  for (const [claims, known, settings, expected] of cases) {
    const decided = decideArrival(claims, known, settings);
    t.equal(decided.ok ? decided.value.kind : decided.error, expected);
  }
});

t.test('an invitation is accepted with a verified address, and the invited one', async (t) => {
  const asked = new Date('2026-01-01T12:00:00Z');
  const verified = { email: 'Ada@example.org', emailVerified: true, authTime: asked };
  const before = { ...verified, authTime: new Date('2026-01-01T11:59:00Z') };
  const unsaid = { ...verified, authTime: null };
  const nobody = { isConnected: false, addressTaken: false, nameTaken: false };
  const cases = [
    [verified, null, nobody, null],
    [verified, 'ada@EXAMPLE.org', nobody, null],
    [verified, 'eve@example.org', nobody, 'provider_other_address'],
    [{ ...verified, emailVerified: false }, null, nobody, 'provider_email_unverified'],
    [{ ...verified, emailVerified: false }, 'ada@example.org', nobody, 'provider_email_unverified'],
    [{ ...verified, email: null }, null, nobody, 'provider_email_unverified'],
    [before, null, nobody, 'provider_not_asked'],
    [before, 'ada@example.org', nobody, 'provider_not_asked'],
    [unsaid, null, nobody, 'provider_not_asked'],
    [unsaid, 'ada@example.org', nobody, null],
    [unsaid, 'eve@example.org', nobody, 'provider_other_address'],
    [verified, null, { ...nobody, addressTaken: true }, 'provider_account_exists'],
    [verified, 'eve@example.org', { ...nobody, addressTaken: true }, 'provider_other_address'],
    [verified, null, { ...nobody, nameTaken: true }, 'provider_name_taken'],
    [verified, null, { ...nobody, isConnected: true, addressTaken: true }, 'provider_already_connected'],
  ] as const;
  for (const [claims, email, here, expected] of cases) {
    const decided = decideAcceptance(claims, { email }, here, asked);
    t.same(decided.ok ? decided.value : decided.error, expected ?? { email: verified.email });
  }
});

t.test('a username is made of what the provider says', async (t) => {
  t.equal(usernameFrom('ada', 'x@example.org'), 'ada');
  t.equal(usernameFrom(null, 'ada.l@example.org'), 'ada.l');
  t.equal(usernameFrom('Zoë Müller@x', 'x@example.org'), 'Zoe-Muller');
  for (const unfit of ['李', '']) t.equal(usernameFrom(unfit, 'x@example.org'), null, unfit);
  const long = usernameFrom('a'.repeat(60), 'x@example.org') ?? '';
  t.equal(long, 'a'.repeat(32));
  for (const name of similarUsernames(long)) t.same(usernameFaults(name), {}, name);
});

t.test('a confirmation is a sign-in after it was asked for, within half a minute of clocks', async (t) => {
  const asked = new Date('2026-01-01T12:00:00Z');
  const at = (seconds: number) => ({ authTime: new Date(asked.getTime() + seconds * 1000) });
  t.equal(signedInAgain(at(5), asked), true);
  t.equal(signedInAgain(at(-30), asked), true);
  t.equal(signedInAgain(at(-31), asked), false);
  t.equal(signedInAgain({ authTime: null }, asked), false);
});

t.test('a sign-in is recent by its proof, not by its session', async (t) => {
  const now = new Date('2026-01-01T12:00:00Z');
  const old = new Date('2026-01-01T11:45:00Z');
  const lately = new Date('2026-01-01T11:45:01Z');
  const cases = [
    [{ signedInAt: lately, confirmedAt: null }, true],
    [{ signedInAt: old, confirmedAt: null }, false],
    [{ signedInAt: null, confirmedAt: null }, false],
    [{ signedInAt: old, confirmedAt: lately }, true],
    [{ signedInAt: null, confirmedAt: lately }, true],
  ] as const;
  for (const [times, expected] of cases) {
    t.equal(signedInLately(aSession({ createdAt: now, ...times }), now), expected);
  }
});

t.test('an account keeps a way in', async (t) => {
  t.equal(keepsWayIn(true, 1), true);
  t.equal(keepsWayIn(false, 2), true);
  t.equal(keepsWayIn(false, 1), false);
});

import t from 'tap';
import { decideUserChange, type UserChange } from '../../src/domain/user.ts';
import { aUser } from '../support/builders.ts';

const TIERS = ['guest', 'free', 'pro', 'enterprise'];
const admin = aUser({ role: 'admin', tier: 'enterprise' });
const off = new Date('2026-01-01T00:00:00Z');

t.test('only what differs is left of a change', async (t) => {
  const cases: readonly (readonly [UserChange, UserChange])[] = [
    [{}, {}],
    [{ tier: 'free', role: 'user', disabled: false }, {}],
    [{ tier: 'pro' }, { tier: 'pro' }],
    [{ role: 'admin' }, { role: 'admin' }],
    [{ disabled: true }, { disabled: true }],
    [
      { tier: 'pro', role: 'user', disabled: true },
      { tier: 'pro', disabled: true },
    ],
  ];
  for (const [asked, left] of cases) {
    t.same(decideUserChange(aUser(), asked, TIERS, 1), { ok: true, value: left }, JSON.stringify(asked));
  }
  const disabled = aUser({ disabledAt: off });
  t.same(decideUserChange(disabled, { disabled: true }, TIERS, 1), { ok: true, value: {} });
  t.same(decideUserChange(disabled, { tier: 'pro' }, TIERS, 1), { ok: true, value: { tier: 'pro' } });
  t.same(decideUserChange(disabled, { disabled: false }, TIERS, 1), { ok: true, value: { disabled: false } });
});

t.test('the last administrator who can sign in stays one', async (t) => {
  const refused = { ok: false, error: { code: 'last_administrator' } };
  const cases: readonly (readonly [UserChange, number, boolean])[] = [
    [{ role: 'user' }, 0, false],
    [{ disabled: true }, 0, false],
    [{ role: 'user', disabled: true }, 0, false],
    [{ role: 'user' }, 1, true],
    [{ disabled: true }, 1, true],
    [{ tier: 'pro' }, 0, true],
    [{ role: 'admin', disabled: false }, 0, true],
  ];
  for (const [change, others, allowed] of cases) {
    const decided = decideUserChange(admin, change, TIERS, others);
    t.equal(decided.ok, allowed, `${JSON.stringify(change)} with ${others} others`);
    if (!decided.ok) t.same(decided, refused);
  }
  const disabled = { ...admin, disabledAt: off };
  t.ok(decideUserChange(disabled, { role: 'user' }, TIERS, 0).ok, 'a disabled one is not counted on');
});

t.test('tiers are those of the catalogue, and guests do not administrate', async (t) => {
  const guest = aUser({ tier: 'guest', guestUntil: off });
  t.match(decideUserChange(guest, { tier: 'gold', role: 'admin' }, TIERS, 1), {
    ok: false,
    error: { code: 'validation_failed', fields: { tier: /guest, free, pro, enterprise/, role: String } },
  });
  t.ok(decideUserChange(guest, { tier: 'free', disabled: true }, TIERS, 1).ok);
});

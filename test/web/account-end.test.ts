import t from 'tap';
import { BerthError } from '../../web/src/api/errors.ts';
import {
  chosenEnd,
  type EndChoice,
  endChange,
  endDays,
  NO_END,
  whyNoEnd,
} from '../../web/src/views/admin/people/account-end.ts';
import { incompleteInputs } from '../../web/src/views/auth/incomplete-inputs.ts';

const now = new Date(2026, 0, 2, 12);
const on = (day: string): EndChoice => ({ kind: 'day', day });
/** A time of a day by the reader's clock. */
const at = (day: number, hours: number): string => new Date(2026, 2, day, hours).toISOString();
const lastSecond = (day: number): string => new Date(2026, 2, day, 23, 59, 59).toISOString();

t.test('an account ends with its last day, or never if that is chosen', async (t) => {
  t.equal(chosenEnd(on('2026-03-31'), 'ends_at', now), lastSecond(31));
  t.equal(chosenEnd(on('2026-01-02'), 'ends_at', now), new Date(2026, 0, 2, 23, 59, 59).toISOString());
  t.equal(chosenEnd(NO_END, 'ends_at', now), null);
  t.equal(
    chosenEnd({ kind: 'never', day: '20270-01-01' }, 'ends_at', now),
    null,
    'a hidden day counts for nothing',
  );
});

t.test('a day that is none is refused at its field, and never read as no end', async (t) => {
  const refused: readonly (readonly [day: string, words: RegExp])[] = [
    ['', /complete date/],
    ['2026-01-01', /today or later/],
    ['0002-01-01', /today or later/],
    ['2036-01-03', /ten years/],
    ['20270-01-01', /ten years/],
    ['275760-12-31', /ten years/],
  ];
  for (const [day, words] of refused) {
    try {
      t.fail(`${day} became ${chosenEnd(on(day), 'account_ends_at', now)}`);
    } catch (failure) {
      t.ok(failure instanceof BerthError, `${failure}`);
      t.match((failure as BerthError).fields['account_ends_at'], words, day);
    }
  }
  t.same(endDays(now), { min: '2026-01-02', max: '2036-01-02' });
});

t.test('an end stays to the second while its day does', async (t) => {
  t.same(endChange(at(31, 9), on('2026-03-31'), now), null);
  t.same(endChange(at(31, 9), on('2026-03-30'), now), { ends_at: lastSecond(30) });
  t.same(endChange(at(31, 9), NO_END, now), { ends_at: null });
  t.same(endChange(null, NO_END, now), null);
  t.same(endChange(null, on('2026-03-31'), now), { ends_at: lastSecond(31) });
  t.throws(() => endChange(at(31, 9), on(''), now), { code: 'validation_failed' });
});

t.test('an account that can have no end says why', async (t) => {
  const user = {
    email: 'ada@example.org',
    role: 'user',
    being_deleted: false,
    disabled_at: null,
    ends_at: null,
  } as const;
  const [before, after] = ['2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'];
  t.equal(whyNoEnd(user, now), null);
  t.equal(
    whyNoEnd({ ...user, ends_at: after, disabled_at: before }, now),
    null,
    'disabled for another reason',
  );
  t.match(whyNoEnd({ ...user, ends_at: before, disabled_at: before }, now), /Enable/);
  t.equal(whyNoEnd({ ...user, email: null }, now), 'Guests have no account');
  t.match(whyNoEnd({ ...user, role: 'admin' }, now), /administrator/);
  t.match(whyNoEnd({ ...user, being_deleted: true, disabled_at: before }, now), /being deleted/);
});

t.test('half a date in any form is a fault of its field, not an empty one', async (t) => {
  const input = (name: string, type: string, badInput: boolean) => ({ name, type, validity: { badInput } });
  t.same(incompleteInputs([input('text', 'text', false), input('ends_at', 'date', false)]), {});
  t.same(
    incompleteInputs([
      input('text', 'text', false),
      input('starts_at', 'datetime-local', true),
      input('ends_at', 'date', true),
    ]),
    { starts_at: 'must be a complete date and time', ends_at: 'must be a complete date' },
  );
});

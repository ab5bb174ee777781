import t from 'tap';
import { keptUntil, volumeDue } from '../../src/domain/retention.ts';

const NOW = new Date('2026-03-01T00:00:00Z');
const hoursAgo = (hours: number): Date => new Date(NOW.getTime() - hours * 3_600_000);

t.test('a volume is condemned after its retention, and removed a day later', async (t) => {
  const cases: [string, number, number | null, number, ReturnType<typeof volumeDue>][] = [
    // name, hours since the delete, hours since the condemnation, retention in days
    ['just deleted', 0, null, 7, 'nothing'],
    ['a moment before its time', 7 * 24 - 0.001, null, 7, 'nothing'],
    ['at its time', 7 * 24, null, 7, 'condemn'],
    ['long after, with the service down meanwhile', 90 * 24, null, 7, 'condemn'],
    ['just condemned', 7 * 24, 0, 7, 'nothing'],
    ['condemned for almost a day', 8 * 24, 23.999, 7, 'nothing'],
    ['condemned for a day', 8 * 24, 24, 7, 'remove'],
    ['condemned for long', 80 * 24, 72 * 24, 7, 'remove'],
    ['condemned, and the retention was made longer', 8 * 24, 24, 30, 'spare'],
    ['no retention at all', 0, null, 0, 'condemn'],
    ['no retention at all, a day later', 24, 24, 0, 'remove'],
  ];
  for (const [name, deleted, condemned, retentionDays, due] of cases) {
    const volume = {
      deletedAt: hoursAgo(deleted),
      condemnedAt: condemned === null ? null : hoursAgo(condemned),
    };
    t.equal(volumeDue(volume, retentionDays, NOW), due, name);
  }
});

t.test('what is purged goes at once, what a guest deletes within the hour', async (t) => {
  const cases: [string, number, { isPurged?: boolean; isGuests?: boolean }, ReturnType<typeof volumeDue>][] =
    [
      ['purged just now', 0, { isPurged: true }, 'remove'],
      ['deleted by a guest just now', 0, { isGuests: true }, 'nothing'],
      ['a moment before a guest loses it', 49.9 / 60, { isGuests: true }, 'nothing'],
      ['so early that the next pass comes within the hour', 50 / 60, { isGuests: true }, 'remove'],
      ['deleted by somebody with an account', 1, {}, 'nothing'],
    ];
  for (const [name, hours, kind, due] of cases) {
    t.equal(volumeDue({ deletedAt: hoursAgo(hours), condemnedAt: null, ...kind }, 7, NOW), due, name);
  }
});

t.test('nothing is removed that was not condemned a day before, whatever the retention', async (t) => {
  for (let hours = 0; hours < 24 * 400; hours += 7) {
    for (const retentionDays of [0, 1, 7, 30, 365]) {
      t.not(volumeDue({ deletedAt: hoursAgo(hours), condemnedAt: null }, retentionDays, NOW), 'remove');
    }
  }
});

t.test('what is deleted is not removed before the time that its owner is told', async (t) => {
  const deletedAt = NOW;
  for (const retentionDays of [0, 7]) {
    const until = keptUntil({ deletedAt }, retentionDays);
    const condemnedAt = new Date(NOW.getTime() + retentionDays * 24 * 3_600_000);
    const at = (ms: number) =>
      volumeDue({ deletedAt, condemnedAt }, retentionDays, new Date(until.getTime() + ms));
    t.same([at(-1), at(0)], ['nothing', 'remove'], `${retentionDays} days`);
  }
  const until = keptUntil({ deletedAt, isGuests: true }, 7);
  const at = (ms: number) =>
    volumeDue({ deletedAt, condemnedAt: null, isGuests: true }, 7, new Date(until.getTime() + ms));
  t.same([at(-1), at(0)], ['nothing', 'remove'], 'a guest');
});

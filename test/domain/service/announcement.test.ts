import t from 'tap';
import {
  ANNOUNCEMENT_LENGTH,
  announcementFaults,
  announcementState,
} from '../../../src/domain/service/announcement.ts';

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 1, hour));

const STATES = [
  ['before its start', 1, 3, 'scheduled', 0],
  ['at its start', 1, 3, 'current', 1],
  ['before its end', 1, 3, 'current', 2],
  ['at its end', 1, 3, 'ended', 3],
  ['without an end', 1, null, 'current', 23],
] as const;

for (const [when, starts, ends, state, now] of STATES) {
  t.test(`an announcement is ${state} ${when}`, async (t) => {
    const times = { startsAt: at(starts), endsAt: ends === null ? null : at(ends) };
    t.equal(announcementState(times, at(now)), state);
  });
}

const FAULTS = [
  ['Hello', {}, {}],
  ['', {}, { text: 'is required' }],
  ['🚢'.repeat(ANNOUNCEMENT_LENGTH), {}, {}],
  ['a'.repeat(ANNOUNCEMENT_LENGTH + 1), {}, { text: 'has more than 500 characters' }],
  ['two\nlines', {}, { text: 'must be one line of plain text' }],
  ['turned \u202e around', {}, { text: 'must be one line of plain text' }],
  ['<b>as written</b>', {}, {}],
  ['Hello', { endsAt: at(1) }, { endsAt: 'must be after the start' }],
  ['Hello', { endsAt: at(2) }, {}],
] as const;

for (const [text, more, faults] of FAULTS) {
  t.test(`the draft ${JSON.stringify(text).slice(0, 40)} ${JSON.stringify(more)}`, async (t) => {
    const draft = { text, severity: 'info', startsAt: at(1), endsAt: null, ...more } as const;
    t.same(announcementFaults(draft), faults);
  });
}

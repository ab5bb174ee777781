import t from 'tap';
import { ApiError, fieldFaults } from '../../web/src/api/errors.ts';
import { limitLines } from '../../web/src/lib/limits.ts';
import { requireWholeNumbers, wholeNumber } from '../../web/src/lib/whole-number.ts';

t.test('only whole numbers are numbers', async (t) => {
  t.same(['0', ' 12 ', '0512'].map(wholeNumber), [0, 12, 512]);
  for (const text of ['', ' ', '1.5', '1,200', '-1', '12abc', '1e3', '0x10', '9'.repeat(13)])
    t.ok(Number.isNaN(wholeNumber(text)), text);
});

t.test('a form with a field that has no number in it is refused with the name of the field', async (t) => {
  requireWholeNumbers({ name: 'x', memory_mb: { min: 1, max: 2 }, layer_mb: 0, note: null });
  const refused = (() => {
    try {
      requireWholeNumbers({ name: 'x', memory_mb: { min: 1, max: Number.NaN }, layer_mb: Number.NaN });
    } catch (error) {
      return error;
    }
  })();
  t.type(refused, ApiError);
  t.same(fieldFaults(refused as ApiError), {
    memory_mb: 'Must be a whole number.',
    layer_mb: 'Must be a whole number.',
  });
});

t.test('the limits of a user are told in plain words', async (t) => {
  const limits = {
    requests_per_minute: 1200,
    max_terminals: 64,
    max_event_sockets: 64,
    max_commands: 0,
    max_uploads: 1,
    max_downloads: 32,
  };
  t.same(
    limitLines(limits).map(({ label, value }) => `${label}: ${value}`),
    [
      'Requests: 1,200 a minute',
      'Open terminals: 64 at once',
      'Open event streams: 64 at once',
      'Running commands: none',
      'Uploads: 1 at once',
      'Downloads: 32 at once',
    ],
  );
  t.equal(limitLines({ ...limits, requests_per_minute: 0 })[0]?.value, 'any number');
});

import t from 'tap';
import { cutInTheMidst } from '../support/agent/cut-line.ts';
import { needs } from '../support/run/infra.ts';

if ((await needs(t, 'engine')) !== null) {
  t.test(
    'while packets are lost for a moment, the bytes of a shell wait, and none is lost',
    { timeout: 240_000 },
    (t) => cutInTheMidst(t, { untilGivenUp: false }),
  );

  t.test(
    'a line that is dead for half a minute loses no byte of a shell, in either direction',
    { timeout: 240_000 },
    (t) => cutInTheMidst(t, { untilGivenUp: true }),
  );
}

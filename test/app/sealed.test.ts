import { randomBytes } from 'node:crypto';
import t from 'tap';
import { keysFrom } from '../../src/app/main/keys.ts';
import { isCurrent, seal, unseal } from '../../src/app/sealed.ts';
import { aServiceInTime, codeAt, from, logIn, withMfa } from '../support/factors.ts';
import { aService } from '../support/service.ts';

const [one, two, three] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const secret = Buffer.from('a secret of twenty b');

t.test('what is sealed opens with its key and for what it was sealed, and never twice alike', async (t) => {
  const sealed = seal([one], secret, 'ada');
  t.same(unseal([one], sealed, 'ada'), secret);
  t.notSame(seal([one], secret, 'ada'), sealed);
  t.notOk(sealed.includes(secret));
  t.throws(() => unseal([one], sealed, 'bob'), 'for somebody else');
  t.equal(unseal([two], sealed, 'ada'), null, 'another key');
  for (let at = 4; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => unseal([one], changed, 'ada'), `byte ${at}`);
  }
});

t.test('the first key seals, all of them open', async (t) => {
  const old = seal([one], secret, 'ada');
  t.same(unseal([two, one], old, 'ada'), secret);
  t.notOk(isCurrent([two, one], old));
  const fresh = seal([two, one], secret, 'ada');
  t.ok(isCurrent([two, one], fresh));
  t.equal(unseal([three, one], fresh, 'ada'), null);
  t.throws(() => seal([], secret, 'ada'));
});

t.test('second factors follow the key of the service, and none is lost on the way', async (t) => {
  const before = await aServiceInTime();
  const { secret: shown, recoveryCodes } = await withMfa(before, 'ada');
  const { ports, clock } = before;
  const [older, newer] = [Buffer.alloc(48, 7), Buffer.alloc(48, 8)];
  const rotated = await aService(ports, { keys: keysFrom(newer, older) });
  t.equal(await rotated.reseal(), 0, 'nothing is lost');
  const after = await aService(ports, { keys: keysFrom(newer) });
  const signIn = async (code: string | undefined) => {
    const { mfa_token } = (await logIn(after, 'ada')).json();
    return (await from(after)('/api/auth/mfa', { mfa_token, code })).statusCode;
  };
  t.equal(await signIn(codeAt(shown, clock.now())), 200, 'also without the old key');
  const gone = await aService(ports, { keys: keysFrom(Buffer.alloc(48, 9)) });
  t.equal(await gone.reseal(), 1, 'with neither, that is said');
  const { mfa_token } = (await logIn(gone, 'ada')).json();
  const code = codeAt(shown, new Date(clock.now().getTime() + 30_000));
  t.equal((await from(gone)('/api/auth/mfa', { mfa_token, code })).statusCode, 401);
  const recovered = await from(gone)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] });
  t.equal(recovered.statusCode, 200, 'a recovery code still opens');
});

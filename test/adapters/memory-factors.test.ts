import t from 'tap';
import { memoryStorage } from '../../src/adapters/memory/index.ts';
import { factorContract } from '../contract/factor-repository.ts';
import { passkeyContract } from '../contract/passkey-repository.ts';
import { pendingContract } from '../contract/pending-repository.ts';
import { personContract } from '../contract/people.ts';
import { screenLockContract } from '../contract/screen-lock-repository.ts';
import { throttleContract } from '../contract/throttle-repository.ts';

const contracts = {
  'second factors': factorContract,
  passkeys: passkeyContract,
  'pending proofs': pendingContract,
  throttle: throttleContract,
  'screen locks': screenLockContract,
  people: personContract,
};

for (const [name, contract] of Object.entries(contracts)) {
  t.test(name, async (t) => contract(t, async () => memoryStorage({ now: () => new Date() })));
}

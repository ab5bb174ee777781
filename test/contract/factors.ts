import type { Test } from 'tap';
import type { OpenStorage } from '../support/storage.ts';
import { factorContract } from './factor-repository.ts';
import { passkeyContract } from './passkey-repository.ts';
import { pendingContract } from './pending-repository.ts';
import { personContract } from './people.ts';
import { screenLockContract } from './screen-lock-repository.ts';
import { throttleContract } from './throttle-repository.ts';

const contracts = {
  'second factors': factorContract,
  passkeys: passkeyContract,
  'pending proofs': pendingContract,
  throttle: throttleContract,
  'screen locks': screenLockContract,
  people: personContract,
};

/** What a storage must guarantee that people sign in with. */
export function signInContracts(t: Test, open: OpenStorage): void {
  for (const [name, contract] of Object.entries(contracts)) t.test(name, async (t) => contract(t, open));
}

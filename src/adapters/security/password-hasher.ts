import { hash, verify } from '@node-rs/argon2';
import type { PasswordHasher } from '../../ports/identity/password-hasher.ts';

// OWASP's first choice for argon2id: 19 MiB, two passes, one lane. The library's default algorithm is argon2id.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** argon2id. Unknown users are checked against a hash that matches no password. */
export async function argon2Hasher(): Promise<PasswordHasher> {
  const nobody = await hash('no password is this one', COST);
  return {
    hash: (password) => hash(password, COST),
    async verify(stored, password) {
      const matches = await verify(stored ?? nobody, password);
      return matches && stored !== null;
    },
  };
}

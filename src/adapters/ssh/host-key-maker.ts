import ssh2 from 'ssh2';
import type { MakeHostKey } from '../../ports/identity/ssh-host-key-repository.ts';

const RSA_BITS = 3072;

/** In the thread pool: an RSA key takes about a second. */
export const makeHostKey: MakeHostKey = (type) =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, keys: { readonly public: string; readonly private: string }): void => {
      if (error) reject(error);
      else resolve({ publicKey: keys.public.split(' ').slice(0, 2).join(' '), privateKey: keys.private });
    };
    if (type === 'ssh-rsa') ssh2.utils.generateKeyPair('rsa', { bits: RSA_BITS }, done);
    else ssh2.utils.generateKeyPair('ed25519', done);
  });

import ssh2 from 'ssh2';
import type { HostKeyType } from '../../domain/identity/ssh-host-key.ts';
import type { HostKeyMaker } from '../../ports/identity/ssh-host-key-repository.ts';

const RSA_BITS = 3072;

type Pair = { readonly public: string; readonly private: string };
/** In the thread pool: an RSA key takes about a second. */
export type GeneratePair = (type: HostKeyType, done: (error: Error | null, pair: Pair) => void) => void;

const generatePair: GeneratePair = (type, done) =>
  type === 'ssh-rsa'
    ? ssh2.utils.generateKeyPair('rsa', { bits: RSA_BITS }, done)
    : ssh2.utils.generateKeyPair('ed25519', done);

/** `generate` may return keys that it cannot read: the package encodes about one ed25519 key in 250 a byte too short. */
export function hostKeyMaker(generate: GeneratePair = generatePair): HostKeyMaker {
  const pairOf = (type: HostKeyType): Promise<Pair> =>
    new Promise((resolve, reject) => {
      generate(type, (error, pair) => (error ? reject(error) : resolve(pair)));
    });
  const isUsable = (privateKey: string): boolean => !(ssh2.utils.parseKey(privateKey) instanceof Error);
  return {
    async make(type) {
      let pair = await pairOf(type);
      while (!isUsable(pair.private)) pair = await pairOf(type);
      return { publicKey: pair.public.split(' ').slice(0, 2).join(' '), privateKey: pair.private };
    },
    isUsable,
  };
}

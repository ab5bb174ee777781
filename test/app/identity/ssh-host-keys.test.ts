import pino from 'pino';
import ssh2 from 'ssh2';
import t from 'tap';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { type GeneratePair, hostKeyMaker } from '../../../src/adapters/ssh/host-key-maker.ts';
import { encrypt } from '../../../src/app/identity/auth/encryption.ts';
import { sshHostKeys } from '../../../src/app/identity/auth/ssh-host-keys.ts';

const KEY = Buffer.alloc(32, 1);
const usable = () => ssh2.utils.generateKeyPairSync('ed25519');
const cutShort = { public: 'ssh-ed25519 AAAA', private: usable().private.replace(/\n.{8}/, '\n') };

/** Host keys by a generator that first returns one that nobody can read. */
function setUp() {
  const storage = memoryStorage(fixedClock());
  const pairs = [cutShort, usable(), usable()];
  const generate: GeneratePair = (_type, done) => done(null, pairs.shift() ?? usable());
  const keys = () => [KEY];
  const { all } = sshHostKeys({
    storage,
    maker: hostKeyMaker(generate),
    keys,
    log: pino({ level: 'silent' }),
  });
  return { all, stored: storage.repositories.sshHostKeys };
}

const canBeRead = ({ privateKey }: { readonly privateKey: string }): boolean =>
  !(ssh2.utils.parseKey(privateKey) instanceof Error);

t.test('no host key is stored that the SSH server cannot read', async (t) => {
  const { all } = setUp();
  t.same((await all()).map(canBeRead), [true, true]);
});

t.test('a stored host key that the SSH server cannot read is replaced', async (t) => {
  const { all, stored } = setUp();
  const type = 'ssh-ed25519';
  const sealedPrivateKey = encrypt([KEY], Buffer.from(cutShort.private), `ssh host key ${type}`);
  await stored.insertMissing({ type, publicKey: cutShort.public, sealedPrivateKey });
  t.same((await all()).map(canBeRead), [true, true]);
});

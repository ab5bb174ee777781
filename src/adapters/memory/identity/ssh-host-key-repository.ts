import type { SshHostKeyRepository, StoredHostKey } from '../../../ports/identity/ssh-host-key-repository.ts';
import type { MemoryState } from '../memory-state.ts';

type InMemory = MemoryState['sshHostKeys'][number];

const toMemory = ({ sealedPrivateKey, ...key }: StoredHostKey): InMemory => ({
  ...key,
  sealedPrivateKey: sealedPrivateKey.toString('hex'),
});

export const memorySshHostKeys = (state: MemoryState): SshHostKeyRepository => ({
  list: async () =>
    state.sshHostKeys.map((key) => ({ ...key, sealedPrivateKey: Buffer.from(key.sealedPrivateKey, 'hex') })),

  async insertMissing(key) {
    if (!state.sshHostKeys.some(({ type }) => type === key.type)) state.sshHostKeys.push(toMemory(key));
  },

  async replace(before, after) {
    const sealed = toMemory(before).sealedPrivateKey;
    state.sshHostKeys = state.sshHostKeys.map((key) =>
      key.type === before.type && key.sealedPrivateKey === sealed ? toMemory(after) : key,
    );
  },
});

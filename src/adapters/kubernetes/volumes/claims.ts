import { pollUntil } from '../../../concurrency/poll.ts';
import {
  type ContainerSpec,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import { ApiFailure } from '../client/api-failure.ts';
import type { Namespace } from '../client/namespace.ts';
import type { Claim } from '../client/objects.ts';
import { mebibytes } from '../client/quantities.ts';
import { DB_ID_LABEL, INSTANCE_LABEL } from '../containers/names.ts';

export type ClaimSettings = {
  readonly instanceId: string;
  /** null: the cluster's default. */
  readonly storageClass: string | null;
};

const REMOVAL = { withinMs: 20_000, everyMs: 250 } as const;

type ClaimedVolume = Pick<ContainerSpec, 'dbId' | 'volume' | 'resources'>;

export type Claims = ReturnType<typeof volumeClaims>;

/** The volumes of one installation as claims, each for one node at a time. */
export function volumeClaims(namespace: Namespace, settings: ClaimSettings) {
  const { find, require } = claimSearch(namespace, settings.instanceId);
  return {
    find,
    /** Makes the volume when it is absent. It gets its storage with its first Pod. */
    async ensure(spec: ClaimedVolume): Promise<void> {
      const made = await namespace.create('persistentvolumeclaims', claimOf(spec, settings));
      if (made === null) await require(spec.volume);
    },
    /** MiB that the volume was asked to have; null when there is none, or when it is unknown. */
    async sizeMb(volume: string): Promise<number | null> {
      const claim = await find(volume);
      return claim === null ? null : mebibytes(claim.spec.resources.requests.storage);
    },
    /** Whether its class would let the volume grow to that. Changes nothing. */
    async canGrow(volume: string, diskMb: number): Promise<boolean> {
      return await namespace.wouldAccept('persistentvolumeclaims', volume, { spec: ofSize(diskMb) });
    },
    /** Grows the volume to the size, where its class can; none can shrink. Fails when it is missing. */
    async beforeStart(volume: string, diskMb: number): Promise<void> {
      const claim = await require(volume);
      const hasMb = mebibytes(claim.spec.resources.requests.storage);
      if (hasMb === null || hasMb >= diskMb) return;
      const grown = namespace.patch('persistentvolumeclaims', volume, { spec: ofSize(diskMb) });
      await grown.catch((error: unknown) => {
        // Its class has no expansion, or it is not bound yet: it stays as it is.
        if (!(error instanceof ApiFailure)) throw error;
      });
    },
    /** Removes the volume and its files, and waits for it; absent is success. */
    async remove(volume: string): Promise<void> {
      const claim = await find(volume);
      if (claim === null) return;
      const { uid } = claim.metadata;
      await namespace.remove('persistentvolumeclaims', volume, { uid });
      const isGone = async (): Promise<boolean> => (await find(volume))?.metadata.uid !== uid;
      if (!(await pollUntil(isGone, REMOVAL)))
        throw new RuntimeUnavailable(`volume ${volume} is still being removed`);
    },
  };
}

/** Finds the claims of an installation, and no other's. */
function claimSearch(namespace: Namespace, instanceId: string) {
  async function find(volume: string): Promise<Claim | null> {
    const claim = await namespace.get('persistentvolumeclaims', volume);
    if (claim !== null && claim.metadata.labels?.[INSTANCE_LABEL] !== instanceId)
      throw new RuntimeFailure(`volume ${volume} does not belong to this installation`);
    return claim;
  }

  async function require(volume: string): Promise<Claim> {
    const claim = await find(volume);
    if (claim === null) throw new RuntimeFailure(`no such volume: ${volume}`);
    if (claim.metadata.deletionTimestamp !== undefined)
      throw new RuntimeFailure(`volume ${volume} is being removed`);
    return claim;
  }

  return { find, require };
}

const claimOf = (
  { dbId, volume, resources }: ClaimedVolume,
  { instanceId, storageClass }: ClaimSettings,
) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: volume,
    labels: {
      'app.kubernetes.io/managed-by': 'berth',
      [INSTANCE_LABEL]: instanceId,
      [DB_ID_LABEL]: dbId,
    },
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    ...(storageClass === null ? {} : { storageClassName: storageClass }),
    ...ofSize(resources.diskMb),
  },
});

const ofSize = (diskMb: number) => ({ resources: { requests: { storage: `${diskMb}Mi` } } });

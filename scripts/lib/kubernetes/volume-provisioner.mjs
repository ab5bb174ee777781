import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { NODE, SECOND_NODE } from './addresses.mjs';

const PROVISIONER = 'berth.test/folder';
const PROVISIONED_BY = 'volume.beta.kubernetes.io/storage-provisioner';
const EVERY_MS = 200;

/**
 * @typedef {{ metadata: { name: string, namespace: string, uid: string, annotations?: Record<string, string> },
 *   spec: { volumeName?: string, storageClassName?: string, accessModes: string[], resources: { requests: { storage: string } } } }} Claim
 */

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'folder', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/**
 * Gives each claim a folder of the node, and removes it with the claim. Local volumes, because the kubelet gives their
 * files to the Pod's group, as with real storage.
 * @param {import('./api-client.mjs').ApiClient} api
 * @param {{ folder: string }} options
 */
export async function provisionVolumes(api, { folder }) {
  await api.send('POST', '/apis/storage.k8s.io/v1/storageclasses', storageClass);
  const pass = async () => {
    await createMissing(api, folder);
    await removeReleased(api, folder);
  };
  const again = () =>
    setTimeout(
      () =>
        pass()
          .catch(() => {})
          .finally(again),
      EVERY_MS,
    ).unref();
  again();
}

/**
 * @param {import('./api-client.mjs').ApiClient} api
 * @param {string} folder
 */
async function createMissing(api, folder) {
  /** @type {{ items: Claim[] }} */
  const { items } = await api.get('/api/v1/persistentvolumeclaims');
  const waiting = items.filter(
    ({ metadata, spec }) => !spec.volumeName && metadata.annotations?.[PROVISIONED_BY] === PROVISIONER,
  );
  for (const claim of waiting) {
    const volume = volumeFor(claim, folder);
    mkdirSync(volume.spec.local.path, { recursive: true });
    await api.send('POST', '/api/v1/persistentvolumes', volume).catch((error) => {
      if (error.status !== 409) throw error;
    });
  }
}

/**
 * @param {import('./api-client.mjs').ApiClient} api
 * @param {string} folder
 */
async function removeReleased(api, folder) {
  const { items } = await api.get('/api/v1/persistentvolumes');
  for (const { metadata, spec, status } of items) {
    if (status.phase !== 'Released' && status.phase !== 'Failed') continue;
    if (path.dirname(spec.local?.path ?? '') !== folder) continue;
    rmSync(spec.local.path, { recursive: true, force: true });
    await api.send('DELETE', `/api/v1/persistentvolumes/${metadata.name}`);
  }
}

/**
 * @param {Claim} claim
 * @param {string} folder
 */
function volumeFor({ metadata, spec }, folder) {
  const name = `pv-${metadata.uid}`;
  const { namespace, uid } = metadata;
  // Both nodes have the folder, as with storage in a network: nothing of the storage keeps a second Pod away.
  const only = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE, SECOND_NODE] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      accessModes: spec.accessModes,
      capacity: { storage: spec.resources.requests.storage },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: metadata.name, uid },
      local: { path: path.join(folder, name) },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [only] }] } },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec.storageClassName,
    },
  };
}

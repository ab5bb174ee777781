import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { create } from 'tar';

/**
 * `layers` are uncompressed tar files, the lowest first, in the folder's file system. `config` is the configuration of
 * an OCI image: `Env`, `Cmd` and the like.
 * @typedef {{ name: string, layers: readonly string[], config: Record<string, unknown>, architecture?: string }} Image
 * @typedef {{ mediaType: string, digest: string, size: number }} Descriptor
 */

const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
/** The names that images give to the processors of Node.js. */
const ARCHITECTURES = new Map([['x64', 'amd64']]);
/** So that equal contents give an equal image. */
const CREATED = '1970-01-01T00:00:00Z';

/**
 * Writes an image as an archive that containerd, Docker, Podman and skopeo load. Takes the layers' names, not copies.
 * @param {string} file
 * @param {Image} image
 */
export async function writeOciArchive(file, { name, layers, config, architecture = ownArchitecture() }) {
  const folder = await mkdtemp(path.join(path.dirname(file), '.image-'));
  try {
    const blobs = path.join(folder, 'blobs', 'sha256');
    await mkdir(blobs, { recursive: true });
    const layerBlobs = await Promise.all(layers.map((layer) => linkLayer(blobs, layer)));
    const diffs = layerBlobs.map(({ digest }) => digest);
    const configBlob = await writeBlob(blobs, CONFIG, {
      architecture,
      os: 'linux',
      created: CREATED,
      config,
      rootfs: { type: 'layers', diff_ids: diffs },
    });
    const manifest = await writeBlob(blobs, MANIFEST, {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: configBlob,
      layers: layerBlobs,
    });
    await writeIndexes(folder, name, { manifest, config: configBlob, layers: layerBlobs });
    await create({ file, cwd: folder, portable: true }, [
      'oci-layout',
      'index.json',
      'manifest.json',
      'blobs',
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The architecture of this machine, as images name it. */
export const ownArchitecture = () => ARCHITECTURES.get(process.arch) ?? process.arch;

/**
 * The index of OCI, and the list that `docker load` reads.
 * @param {string} folder
 * @param {string} name
 * @param {{ manifest: Descriptor, config: Descriptor, layers: readonly Descriptor[] }} blobs
 */
async function writeIndexes(folder, name, { manifest, config, layers }) {
  const names = {
    'io.containerd.image.name': fullName(name),
    'org.opencontainers.image.ref.name': tagOf(name),
  };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations: names }] };
  const fileOf = (/** @type {Descriptor} */ { digest }) => `blobs/${digest.replace(':', '/')}`;
  const forDocker = [{ Config: fileOf(config), RepoTags: [name], Layers: layers.map(fileOf) }];
  await writeFile(path.join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(index));
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(forDocker));
}

/**
 * The name as containerd has it: with the registry.
 * @param {string} name
 */
function fullName(name) {
  const [first = '', ...others] = name.split('/');
  if (others.length > 0 && /[.:]|^localhost$/.test(first)) return name;
  return others.length > 0 ? `docker.io/${name}` : `docker.io/library/${name}`;
}

/** @param {string} name */
const tagOf = (name) => /:([^/:]+)$/.exec(name)?.[1] ?? 'latest';

/**
 * @param {string} blobs
 * @param {string} layer
 * @returns {Promise<Descriptor>}
 */
async function linkLayer(blobs, layer) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(layer), hash);
  const hex = hash.digest('hex');
  await link(layer, path.join(blobs, hex));
  return { mediaType: LAYER, digest: `sha256:${hex}`, size: (await stat(layer)).size };
}

/**
 * @param {string} blobs
 * @param {string} mediaType
 * @param {unknown} content
 * @returns {Promise<Descriptor>}
 */
async function writeBlob(blobs, mediaType, content) {
  const text = JSON.stringify(content);
  const hex = createHash('sha256').update(text).digest('hex');
  await writeFile(path.join(blobs, hex), text);
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}

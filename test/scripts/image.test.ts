import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { create, extract } from 'tar';
import { ownArchitecture, writeOciArchive } from '../../scripts/lib/image/oci-archive.mjs';

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Layers with a file each, and the unpacked archive of their image. */
async function anImage(folder: string, name: string) {
  const inside = path.join(folder, 'inside');
  mkdirSync(inside);
  const layers = ['low', 'high'].map((layer) => path.join(folder, `${layer}.tar`));
  for (const layer of layers) {
    writeFileSync(path.join(inside, 'file'), layer);
    await create({ file: layer, cwd: inside, portable: true }, ['file']);
  }
  const file = path.join(folder, 'image.tar');
  await writeOciArchive(file, { name, layers, config: { Cmd: ['sh'], User: '10001' } });
  const unpacked = path.join(folder, 'unpacked');
  mkdirSync(unpacked);
  await extract({ file, cwd: unpacked });
  const json = (entry: string) => JSON.parse(readFileSync(path.join(unpacked, entry), 'utf8'));
  return { layers, unpacked, json, blob: (digest: string) => `blobs/${digest.replace(':', '/')}` };
}

t.test('an image is an archive in which each digest is that of its content', async (t) => {
  const folder = t.testdir();
  const { layers, unpacked, json, blob } = await anImage(folder, 'registry.example.org:5000/berth:1');
  t.same(json('oci-layout'), { imageLayoutVersion: '1.0.0' });
  const [entry] = json('index.json').manifests;
  t.same(entry.annotations, {
    'io.containerd.image.name': 'registry.example.org:5000/berth:1',
    'org.opencontainers.image.ref.name': '1',
  });
  const manifest = json(blob(entry.digest));
  const config = json(blob(manifest.config.digest));
  const contents = layers.map((layer) => readFileSync(layer));
  t.same(
    manifest.layers.map(({ digest, size }: { digest: string; size: number }) => [digest, size]),
    contents.map((content) => [digestOf(content), content.length]),
    'the lowest first',
  );
  t.same(config.rootfs, { type: 'layers', diff_ids: contents.map(digestOf) });
  t.match(config, { os: 'linux', architecture: ownArchitecture(), config: { Cmd: ['sh'], User: '10001' } });
  for (const name of readdirSync(path.join(unpacked, 'blobs/sha256')))
    t.equal(digestOf(readFileSync(path.join(unpacked, 'blobs/sha256', name))), `sha256:${name}`);
});

t.test('docker load finds the same layers, and nothing is left of the work', async (t) => {
  const folder = t.testdir();
  const { json, blob } = await anImage(folder, 'berth-server:latest');
  const [entry] = json('index.json').manifests;
  const manifest = json(blob(entry.digest));
  t.equal(entry.annotations['io.containerd.image.name'], 'docker.io/library/berth-server:latest');
  t.same(json('manifest.json'), [
    {
      Config: blob(manifest.config.digest),
      RepoTags: ['berth-server:latest'],
      Layers: manifest.layers.map(({ digest }: { digest: string }) => blob(digest)),
    },
  ]);
  t.same(readdirSync(folder).toSorted(), ['high.tar', 'image.tar', 'inside', 'low.tar', 'unpacked']);
});

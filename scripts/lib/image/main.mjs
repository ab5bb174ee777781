import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { BASE_CHANGES, BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { Fault, runMain } from '../fault.mjs';
import { step } from '../progress.mjs';
import { writeContainerRoot, writeServerRoot } from './debian-layer.mjs';
import { writeOciArchive } from './oci-archive.mjs';
import { writeServerLayer } from './server-layer.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** As docs/deploy/Dockerfile, for a cluster: no engine and no packet filter on the machine. */
const SERVER_CONFIG = {
  Env: [PATH, 'NODE_ENV=production', 'BERTH_DATA_DIR=/var/lib/berth', 'BERTH_HOST=0.0.0.0'],
  Entrypoint: ['/usr/local/bin/berth'],
  WorkingDir: '/opt/berth',
  User: '10001:10001',
  ExposedPorts: { '8080/tcp': {} },
};

/**
 * @typedef {{ usual: string, write: (folder: string, file: string, name: string) => Promise<void> }} Kind
 * @type {Readonly<Record<string, Kind>>}
 */
const KINDS = {
  server: {
    usual: 'berth-server:latest',
    write: async (folder, file, name) => {
      const layers = ['root.tar', 'berth.tar'].map((layer) => path.join(folder, layer));
      const [base = '', service = ''] = layers;
      await step('Installing Debian', () => writeServerRoot(base));
      await step('Installing Berth', () => writeServerLayer(root, path.join(folder, 'work'), service));
      await writeOciArchive(file, { name, layers, config: SERVER_CONFIG });
    },
  },
  base: {
    usual: BASE_REFERENCE,
    write: async (folder, file, name) => {
      const layer = path.join(folder, 'root.tar');
      await step('Installing Debian', () => writeContainerRoot(layer));
      await writeOciArchive(file, { name, layers: [layer], config: configOf(BASE_CHANGES) });
    },
  },
};

/**
 * The configuration that these instructions of a Dockerfile mean.
 * @param {readonly string[]} changes
 */
function configOf(changes) {
  /** @type {Record<string, (words: string) => object>} */
  const meanings = {
    ENV: (words) => ({ Env: words.split(' ') }),
    LABEL: (words) => ({ Labels: Object.fromEntries([words.split('=')]) }),
    WORKDIR: (words) => ({ WorkingDir: words }),
    CMD: (words) => ({ Cmd: JSON.parse(words) }),
  };
  const parts = changes.map((line) => /^(\w+) (.*)$/.exec(line) ?? []);
  return Object.assign({}, ...parts.map(([, word = '', words = '']) => meanings[word]?.(words)));
}

await runMain(async () => {
  const [kindName = '', file, name] = process.argv.slice(2);
  const kind = KINDS[kindName];
  if (kind === undefined || file === undefined)
    throw new Fault(`usage: npm run image -- <${Object.keys(KINDS).join('|')}> FILE.tar [NAME:TAG]`, 64);
  if (process.getuid?.() !== 0) throw new Fault('an image has files of root: run this as root');
  // npm runs scripts in the root of the package, not in the caller's folder.
  const target = path.resolve(process.env['INIT_CWD'] ?? '.', file);
  const folder = await mkdtemp(path.join(path.dirname(target), '.berth-image-'));
  try {
    await kind.write(folder, target, name ?? kind.usual);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`${target} has the image ${name ?? kind.usual}`);
  return 0;
});

import t from 'tap';
import {
  compareTiers,
  defaultFirst,
  type Image,
  imageFaults,
  installsSomething,
  pinned,
  type Role,
  roleFaults,
  tierFaults,
} from '../../src/domain/catalogue.ts';
import type { Tier } from '../../src/domain/resources.ts';
import { aTier } from '../support/builders.ts';

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const image: Image = {
  key: 'alpine',
  label: 'Alpine 3.20',
  reference: 'docker.io/library/alpine:3.20',
  digest: null,
  shell: '/bin/ash',
};
const role: Role = { key: 'ruby', label: 'Ruby', packages: { apt: ['ruby'] }, script: null };

const images: readonly (readonly [string, Partial<Image>, readonly string[]])[] = [
  ['a pinned one', { digest: DIGEST }, []],
  ['a registry with a port', { reference: 'registry.example.org:5000/team/web_app:v1.2-rc.1' }, []],
  ['no tag', { reference: 'alpine' }, []],
  ['a digest within the reference', { reference: `alpine@${DIGEST}` }, ['reference']],
  ['capitals in the path', { reference: 'docker.io/Library/alpine' }, ['reference']],
  ['an option', { reference: '--privileged' }, ['reference']],
  ['a scheme', { reference: 'https://docker.io/alpine' }, ['reference']],
  ['an empty reference', { reference: '' }, ['reference']],
  ['a reference without end', { reference: 'a'.repeat(256) }, ['reference']],
  ['another digest', { digest: 'md5:abc' }, ['digest']],
  ['a digest in capitals', { digest: DIGEST.toUpperCase() }, ['digest']],
  ['a digest of what is made here', { reference: 'berth/debian:12', digest: DIGEST }, ['digest']],
  ['a relative shell', { shell: 'bash' }, ['shell']],
  ['a shell with arguments', { shell: '/bin/sh -c' }, ['shell']],
  ['bad key and label', { key: 'Alpine 3', label: ' padded ' }, ['key', 'label']],
  ['a label of two lines', { label: 'a\nb' }, ['label']],
  ['a long label', { label: 'x'.repeat(101) }, ['label']],
  ['a key that could be a path', { key: '../x' }, ['key']],
];

t.test('an image names what an engine can be asked for', async (t) => {
  t.same(imageFaults(image), {});
  for (const [name, over, fields] of images) {
    t.same(Object.keys(imageFaults({ ...image, ...over })).sort(), fields, name);
  }
  t.equal(pinned(image), image.reference);
  t.equal(pinned({ ...image, digest: DIGEST }), `${image.reference}@${DIGEST}`);
});

const roles: readonly (readonly [string, Partial<Role>, readonly string[]])[] = [
  ['names of all shapes', { packages: { apt: ['g++', 'libc6:amd64', 'r'], dnf: ['python3.11'] } }, []],
  ['a script', { script: 'npm install -g pnpm\n' }, []],
  ['an option', { packages: { apt: ['ruby', '--allow-downgrades'] } }, ['packages']],
  ['a removal', { packages: { apt: ['bash-'] } }, ['packages']],
  ['two in one', { packages: { apt: ['ruby perl'] } }, ['packages']],
  ['a command', { packages: { apk: ['ruby;reboot'] } }, ['packages']],
  ['a path', { packages: { dnf: ['./x.rpm'] } }, ['packages']],
  ['a pattern', { packages: { apt: ['*'] } }, ['packages']],
  ['an empty name', { packages: { apt: [''] } }, ['packages']],
  ['too many', { packages: { apt: Array(150).fill('a'), apk: Array(51).fill('a') } }, ['packages']],
  ['a long script', { script: 'é'.repeat(8193) }, ['script']],
  ['NUL in a script', { script: 'a\0b' }, ['script']],
];

t.test('a role names packages that no manager takes for anything else', async (t) => {
  t.same(roleFaults(role), {});
  for (const [name, over, fields] of roles) {
    t.same(Object.keys(roleFaults({ ...role, ...over })).sort(), fields, name);
  }
});

t.test('a role without packages and script installs nothing', async (t) => {
  t.equal(installsSomething(role), true);
  t.equal(installsSomething({ ...role, packages: {} }), false);
  t.equal(installsSomething({ ...role, packages: { apt: [] } }), false);
  t.equal(installsSomething({ ...role, packages: {}, script: 'true' }), true);
});

const tiers: readonly (readonly [string, Partial<Tier>, readonly string[]])[] = [
  ['nothing at all', { maxContainers: 0, maxAgents: 0 }, []],
  ['one size', { memoryMb: { min: 512, max: 512 } }, []],
  ['min above max', { memoryMb: { min: 513, max: 512 } }, ['memory_mb']],
  ['fractions', { cpuMillicores: { min: 10.5, max: 512 } }, ['cpu_shares']],
  ['less than an engine takes', { memoryMb: { min: 1, max: 512 } }, ['memory_mb']],
  ['more than is stored', { diskMb: { min: 512, max: 2 ** 31 } }, ['disk_mb']],
  ['counts', { maxContainers: -1, maxAgents: 10_001 }, ['max_agents', 'max_containers']],
  ['nothing to install into', { layerMb: 0 }, ['layer_mb']],
  ['a name', { name: 'Gold' }, ['name']],
];

t.test('a tier has ranges that can be met', async (t) => {
  t.same(tierFaults(aTier()), {});
  for (const [name, over, fields] of tiers) {
    t.same(Object.keys(tierFaults(aTier(over))).sort(), fields, name);
  }
});

t.test('tiers go by size, other entries by label behind the default', async (t) => {
  const named = (name: string, max: number, maxContainers = 1) =>
    aTier({ name, memoryMb: { min: 64, max }, maxContainers });
  const sorted = [named('c', 512), named('b', 512), named('a', 1024), named('d', 512, 0)].sort(compareTiers);
  t.same(
    sorted.map(({ name }) => name),
    ['d', 'b', 'c', 'a'],
  );
  const entries = [
    { key: 'x', label: 'B' },
    { key: 'w', label: 'B' },
    { key: 'y', label: 'A' },
    { key: 'z', label: 'Z' },
  ].sort(defaultFirst('z'));
  t.same(
    entries.map(({ key }) => key),
    ['z', 'y', 'w', 'x'],
  );
});

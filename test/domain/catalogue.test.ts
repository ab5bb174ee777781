import t from 'tap';
import {
  compareTiers,
  defaultFirst,
  type Image,
  imageFaults,
  installsSomething,
  NEEDED,
  pinned,
  type Role,
  roleFaults,
  tierFaults,
} from '../../src/domain/catalogue.ts';
import type { FieldFaults, Tier } from '../../src/domain/resources.ts';
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
  ['a key that goes on as a path', { key: 'x/../y' }, ['key']],
  ['a label of one letter', { label: 'x' }, []],
  ['a label with a space behind it', { label: 'padded ' }, ['label']],
  ['a digest with something before it', { digest: `x${DIGEST}` }, ['digest']],
  ['a digest with something behind it', { digest: `${DIGEST}0` }, ['digest']],
  ['a shell below a folder', { shell: 'usr/bin/sh' }, ['shell']],
  ['a long shell', { shell: `/${'a'.repeat(255)}` }, ['shell']],
  ['the longest reference', { reference: 'a'.repeat(255) }, []],
];

/** Each field that is refused says why. */
const saysWhy = (faults: FieldFaults): boolean => Object.values(faults).every((words) => /\w/.test(words));

t.test('an image names what an engine can be asked for', async (t) => {
  t.same(imageFaults(image), {});
  for (const [name, over, fields] of images) {
    const faults = imageFaults({ ...image, ...over });
    t.same(Object.keys(faults).sort(), fields, name);
    t.ok(saysWhy(faults), name);
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
  ['the longest script', { script: 'a'.repeat(16_384) }, []],
  ['the most packages', { packages: { apt: Array(200).fill('a') } }, []],
  ['a bad key', { key: 'Ruby' }, ['key']],
];

t.test('a role names packages that no manager takes for anything else', async (t) => {
  t.same(roleFaults(role), {});
  for (const [name, over, fields] of roles) {
    const faults = roleFaults({ ...role, ...over });
    t.same(Object.keys(faults).sort(), fields, name);
    t.ok(saysWhy(faults), name);
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
  ['the largest sizes', { memoryMb: { min: 64, max: 16_777_216 }, layerMb: 16_777_216 }, []],
  ['more to install into than is stored', { layerMb: 16_777_217 }, ['layer_mb']],
];

t.test('a tier has ranges that can be met', async (t) => {
  t.same(tierFaults(aTier()), {});
  for (const [name, over, fields] of tiers) {
    const faults = tierFaults(aTier(over));
    t.same(Object.keys(faults).sort(), fields, name);
    t.ok(saysWhy(faults), name);
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
  const [b, c] = [named('b', 512), named('c', 512)];
  t.same([Math.sign(compareTiers(b, c)), Math.sign(compareTiers(c, b))], [-1, 1]);
  const [first, second, third] = [
    { key: 'z', label: 'Z' },
    { key: 'y', label: 'A' },
    { key: 'x', label: 'B' },
  ] as const;
  const compare = defaultFirst('z');
  for (const [before, after] of [
    [first, second],
    [first, third],
    [second, third],
  ] as const)
    t.same([Math.sign(compare(before, after)), Math.sign(compare(after, before))], [-1, 1]);
});

t.test('there is an entry that the service gives by itself, of each kind', async (t) => {
  t.same(NEEDED, { tier: ['guest', 'free', 'enterprise'], image: ['debian'], role: ['standard'] });
});

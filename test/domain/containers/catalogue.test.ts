import t, { type Test } from 'tap';
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
} from '../../../src/domain/containers/catalogue.ts';
import type { Tier } from '../../../src/domain/containers/resources.ts';
import {
  CANCELLED,
  cancelRoleSetup,
  lastLine,
  NO_ROLE_SETUP,
  nextRoleSetup,
  outputTail,
  type RoleSetup,
  type RoleSetupInput,
  retryRoleSetup,
  TAIL_CHARACTERS,
} from '../../../src/domain/containers/role-setup.ts';
import type { FieldFaults } from '../../../src/domain/field-faults.ts';
import { aTier } from '../../support/samples/samples.ts';
import { valuesOf } from '../../support/values.ts';

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

/** Each case has faults of these fields alone, each with a reason. */
function refuses<Of>(
  t: Test,
  faultsOf: (of: Of) => FieldFaults,
  whole: Of,
  cases: readonly (readonly [name: string, over: Partial<Of>, fields: readonly string[]])[],
): void {
  for (const [name, over, fields] of [['nothing', {}, []] as const, ...cases]) {
    const faults = faultsOf({ ...whole, ...over });
    t.same(Object.keys(faults).sort(), fields, name);
    for (const words of Object.values(faults)) t.match(words, /\w/, name);
  }
}

t.test('an image has a valid reference', async (t) => {
  refuses(t, imageFaults, image, images);
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

t.test('a role names only harmless package names', async (t) => {
  refuses(t, roleFaults, role, roles);
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
  ['min above max', { memoryMb: { min: 513, max: 512 } }, ['memoryMb']],
  ['fractions', { cpuMillicores: { min: 10.5, max: 512 } }, ['cpuMillicores']],
  ['less than an engine takes', { memoryMb: { min: 1, max: 512 } }, ['memoryMb']],
  ['more than is stored', { diskMb: { min: 512, max: 2 ** 31 } }, ['diskMb']],
  ['counts', { maxContainers: -1, maxAgents: 10_001 }, ['maxAgents', 'maxContainers']],
  ['no time for warnings', { maxTtlSeconds: 59, maxIdleSeconds: 0 }, ['maxTtlSeconds']],
  ['nothing to install into', { layerMb: 0 }, ['layerMb']],
  ['a name', { name: 'Gold' }, ['name']],
  ['the largest sizes', { memoryMb: { min: 64, max: 16_777_216 }, layerMb: 16_777_216 }, []],
  ['more to install into than is stored', { layerMb: 16_777_217 }, ['layerMb']],
];

t.test("a tier's ranges can be met", async (t) => {
  refuses(t, tierFaults, aTier(), tiers);
});

t.test('tiers are sorted by size, other entries by label after the default', async (t) => {
  const named = (name: string, max: number, maxContainers = 1) =>
    aTier({ name, memoryMb: { min: 64, max }, maxContainers });
  const sorted = [named('c', 512), named('b', 512), named('a', 1024), named('d', 512, 0)].sort(compareTiers);
  t.same(valuesOf(sorted, 'name'), ['d', 'b', 'c', 'a']);
  const entries = [
    { key: 'x', label: 'B' },
    { key: 'w', label: 'B' },
    { key: 'y', label: 'A' },
    { key: 'z', label: 'Z' },
  ].sort(defaultFirst('z'));
  t.same(valuesOf(entries, 'key'), ['z', 'y', 'w', 'x']);
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

t.test('each kind has an entry that cannot be deleted', async (t) => {
  t.same(NEEDED, { tier: ['guest', 'free', 'enterprise'], image: ['debian'], role: ['standard'] });
});

const none = NO_ROLE_SETUP;
const waits: RoleSetup = { status: 'none', id: 'a', detail: 'continues as soon as the container runs' };
const installing: RoleSetup = { status: 'installing', id: 'a', detail: 'so far' };
const ready: RoleSetup = { status: 'ready', id: null, detail: 'done' };
const failed: RoleSetup = { status: 'failed', id: null, detail: 'no' };
const ALL = { none, waits, installing, ready, failed };
type Name = keyof typeof ALL;

const recreated = (over: Partial<Extract<RoleSetupInput, { what: 'recreated' }>> = {}): RoleSetupInput => ({
  what: 'recreated',
  installs: true,
  wasCarriedOver: false,
  running: true,
  id: 'b',
  ...over,
});
const begun: RoleSetup = { status: 'installing', id: 'b', detail: null };
const toBegin: RoleSetup = { ...waits, id: 'b' };

/** The next state of each setup; unnamed ones do not change. */
const TABLE: readonly (readonly [string, RoleSetupInput, Partial<Record<Name, RoleSetup>> | RoleSetup])[] = [
  ['recreated', recreated(), begun],
  ['recreated, and not running', recreated({ running: false }), toBegin],
  ['recreated with a role without tools', recreated({ installs: false }), none],
  ['carried over', recreated({ wasCarriedOver: true }), { waits: begun, installing: begun }],
  ['stopped', { what: 'stopped', id: 'b' }, { waits: toBegin, installing: toBegin }],
  ['deleted', { what: 'deleted' }, none],
  ['printed', { what: 'printed', detail: 'x' }, { installing: { ...installing, detail: 'x' } }],
  ['installed', { what: 'ended', well: true, detail: 'x' }, { status: 'ready', id: null, detail: 'x' }],
  ['broken', { what: 'ended', well: false, detail: 'x' }, { status: 'failed', id: null, detail: 'x' }],
];

t.test('a role setup moves through its states', async (t) => {
  for (const [name, input, becomes] of TABLE) {
    for (const [from, setup] of Object.entries(ALL) as [Name, RoleSetup][]) {
      const expected = 'status' in becomes ? becomes : (becomes[from] ?? setup);
      t.same(nextRoleSetup(setup, input), expected, `${from}, ${name}`);
    }
  }
});

t.test('a retry restarts, except an installation in progress; a role without tools refuses', async (t) => {
  for (const [name, setup] of Object.entries(ALL)) {
    const expected = setup === installing ? installing : begun;
    t.same(retryRoleSetup(setup, true, 'b'), { ok: true, value: expected }, name);
    t.match(retryRoleSetup(setup, false, 'b'), { ok: false, error: { code: 'role_setup_not_needed' } }, name);
  }
});

t.test('only an installation in progress or due can be cancelled', async (t) => {
  t.match(cancelRoleSetup(installing), {
    value: { status: 'failed', id: null, detail: 'so far\ncancelled' },
  });
  for (const setup of [waits, begun]) {
    t.match(cancelRoleSetup(setup), { value: { status: 'failed', id: null, detail: CANCELLED } });
  }
  for (const setup of [none, ready, failed]) {
    t.match(cancelRoleSetup(setup), { ok: false, error: { code: 'role_setup_not_active' } });
  }
});

const outputs: readonly (readonly [string, string, string])[] = [
  ['whole lines without empty ones', 'one\n\n  two  \r\nthree', 'one\n  two\nthree'],
  ['what a terminal would show', '10%\r 50%\r100%\nnext', '100%\nnext'],
  ['no colours, titles or bells', '\u001b[1;31mred\u001b[0m \u001b]0;title\u0007x\u0007y', 'red xy'],
  ['an unfinished title ends with its line', '\u001b]0;never\nafter', 'after'],
  ['no NUL, no half characters', 'a\u0000b\ud83dc\ud83d\ude00', 'abc😀'],
  ['nothing', '\n\n', ''],
];

t.test('output is reduced to plain text', async (t) => {
  for (const [name, output, expected] of outputs) t.equal(outputTail(output), expected, name);
});

t.test('the last whole lines of long output are kept', async (t) => {
  const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} 😀`);
  const tail = outputTail(lines.join('\n'));
  t.ok(tail.length <= TAIL_CHARACTERS && tail.length > TAIL_CHARACTERS - 20);
  t.match(tail, /^line \d+ 😀\n/);
  t.ok(tail.endsWith('line 1999 😀'));
  const full = `first\n${'x'.repeat(TAIL_CHARACTERS - 6)}`;
  t.equal(outputTail(full), full, 'as much as is kept');
  const endless = outputTail('😀'.repeat(TAIL_CHARACTERS));
  t.ok(endless.isWellFormed?.() ?? true);
  t.ok(endless.length <= TAIL_CHARACTERS);
  t.equal(lastLine(tail), 'line 1999 😀');
  t.equal([...(lastLine('😀'.repeat(300)) ?? '')].length, 200, 'an event takes no half characters either');
  t.equal(lastLine(null), null);
});

import { readdir } from 'node:fs/promises';
import { type Log, readText, run } from '../host/host-commands.ts';
import { shortHash } from '../network/subnet.ts';

/** The image of the catalogue's first entry, and the public image that it can be made from. */
export const BASE_REFERENCE = 'berth/debian:12';
export const BASE_UPSTREAM = 'docker.io/library/debian:12-slim';

export type BaseImageSettings = {
  readonly reference: string;
  readonly progress: (message: string) => void;
  readonly log: Log;
  /** Whether a registry may be asked, given a network for installing into what it has. */
  readonly allowPull: boolean;
  /** One with a way out: the default network of a private engine has none. */
  readonly network?: string;
  /** Ends the preparation early; nothing of it is left then. */
  readonly signal?: AbortSignal;
};

/** Name of an image that is not finished, or not known to be. */
export type Draft = { readonly repo: string; readonly tag: string };

/** What a workspace's image carries beyond the distribution's minimum. */
export const BASE_PACKAGES = [
  'bash',
  'bash-completion',
  'ca-certificates',
  'curl',
  'git',
  'iputils-ping',
  'less',
  'nano',
  'ncurses-term',
  'openssh-client',
  'procps',
  'tmux',
  'vim-tiny',
] as const;

/**
 * Run inside the image as root: the home is the volume, and a fresh volume starts with these files. A copy of
 * ping loses the file capability, which no container has and without which ping works.
 */
export const BASE_SETUP =
  'set -e; mkdir -p /workspace; cp -a /etc/skel/. /workspace; chmod 755 /workspace; ' +
  'sed -i "s,^root:x:0:0:root:/root:,root:x:0:0:root:/workspace:," /etc/passwd; ' +
  'cp /usr/bin/ping /usr/bin/ping.new && mv /usr/bin/ping.new /usr/bin/ping; ' +
  'rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb';

/** Tells an image that an older recipe made, so that it is made again. */
export const BASE_LABEL = 'berth.base';
export const BASE_VERSION = shortHash([...BASE_PACKAGES, BASE_SETUP].join(' '));

/** Dockerfile instructions for an imported or committed image. */
export const BASE_CHANGES = [
  'ENV LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  `LABEL ${BASE_LABEL}=${BASE_VERSION}`,
  'WORKDIR /workspace',
  'CMD ["/bin/bash", "-l"]',
] as const;

/** The release that the reference names, whatever release this machine has. */
const SUITE = 'bookworm';
const PUBLIC_SOURCES = [
  `deb http://deb.debian.org/debian ${SUITE} main`,
  `deb http://deb.debian.org/debian ${SUITE}-updates main`,
  `deb http://deb.debian.org/debian-security ${SUITE}-security main`,
];

/** The keys of Debian's archive, by the package that brings them. */
export const ARCHIVE_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const TRUSTED_KEYS = '/etc/apt/trusted.gpg.d';

export type Recipe = {
  /** sources.list of the image. */
  readonly sources: readonly string[];
  /** Folders and files of keys that the sources may be signed with. */
  readonly keys: readonly string[];
  /** Folders of this machine that the image gets a copy of, with the folder they go into. */
  readonly copies: readonly (readonly [from: string, into: string])[];
  /** apt settings that the image needs as this machine does. */
  readonly aptOptions: readonly string[];
  /** Settings for the time of building alone. */
  readonly env: NodeJS.ProcessEnv;
};

/** How to build the image as this machine itself gets its packages; on other distributions, from Debian's own. */
export async function machineRecipe(): Promise<Recipe> {
  const release = (await readText('/etc/os-release')) ?? '';
  const isDebian = /^ID="?debian"?$/m.test(release);
  const codename = /^VERSION_CODENAME="?(\w+)"?$/m.exec(release)?.[1] ?? SUITE;
  const format = '$(REPO_URI)|$(RELEASE)|$(COMPONENT)';
  const [targets, config, trusted, certificates] = await Promise.all([
    run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']),
    run('apt-config', ['dump']),
    readdir(TRUSTED_KEYS).catch(() => []),
    readdir(OWN_CERTIFICATES).catch(() => []),
  ]);
  const own = isDebian ? sourceLines(targets.stdout, codename) : [];
  const sharesKeys = isDebian && trusted.length > 0;
  const hasCertificates = certificates.some((name) => name.endsWith('.crt'));
  return {
    sources: own.length > 0 ? own : PUBLIC_SOURCES,
    keys: sharesKeys ? [ARCHIVE_KEYS, TRUSTED_KEYS] : [ARCHIVE_KEYS],
    copies: [
      ...(sharesKeys ? [[TRUSTED_KEYS, '/etc/apt'] as const] : []),
      ...(hasCertificates ? [[OWN_CERTIFICATES, '/usr/local/share'] as const] : []),
    ],
    ...aptSettings(config.stdout),
  };
}

const OWN_CERTIFICATES = '/usr/local/share/ca-certificates';

/** This machine's own archive out of `apt-get indextargets`, for our release; sources of third parties stay out. */
export function sourceLines(targets: string, codename: string): readonly string[] {
  const suites = new Map<string, string[]>();
  const known = new RegExp(`^${codename}(-updates|-security|-backports)?$`);
  for (const line of new Set(targets.split('\n'))) {
    const [uri, suite, component] = line.split('|');
    if (uri === undefined || suite === undefined || component === undefined || !known.test(suite)) continue;
    const key = `${uri} ${suite.replace(codename, SUITE)}`;
    suites.set(key, [...(suites.get(key) ?? []), component]);
  }
  const own = [...suites].filter(([, components]) => components.includes('main'));
  return own.map(([key, components]) => `deb ${key} ${components.join(' ')}`);
}

const KEPT = /^Acquire::(https?::.+|Check-Valid-Until|Check-Date|Retries) ".*";$/;
const PROXY = /^Acquire::(https?)::Proxy "(.+)";$/;

/** Out of `apt-config dump`. A proxy on this machine itself serves the building, but no container reaches it. */
export function aptSettings(dump: string): Pick<Recipe, 'aptOptions' | 'env'> {
  const aptOptions = ['Acquire::Languages "none";'];
  const env: NodeJS.ProcessEnv = {};
  for (const line of dump.split('\n').filter((each) => KEPT.test(each))) {
    const proxy = PROXY.exec(line);
    const isLocal = proxy !== null && /\/\/(127\.|localhost|\[::1\])/.test(proxy[2] ?? '');
    if (isLocal) env[`${proxy[1]}_proxy`] = proxy[2];
    else aptOptions.push(line);
  }
  return { aptOptions, env };
}

/** Arguments of mmdebstrap; the archive goes to its stdout. */
export function buildArgs({ aptOptions, keys, copies, sources }: Recipe): readonly string[] {
  return [
    '--mode=root',
    '--variant=minbase',
    '--dpkgopt=force-unsafe-io',
    `--include=${BASE_PACKAGES.join(',')}`,
    ...aptOptions.map((option) => `--aptopt=${option}`),
    ...keys.map((key) => `--keyring=${key}`),
    ...copies.map(([from, into]) => `--customize-hook=copy-in ${from} ${into}`),
    '--customize-hook=chroot "$1" update-ca-certificates',
    `--customize-hook=chroot "$1" sh -c '${BASE_SETUP}'`,
    SUITE,
    '-',
    ...sources,
  ];
}

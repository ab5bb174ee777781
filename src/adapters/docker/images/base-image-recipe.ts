import { readdir } from 'node:fs/promises';
import { type Log, readText, run } from '../host/host-commands.ts';
import { shortHash } from '../network/subnet.ts';

/** The catalogue's first image, and the public image that it can be made from. */
export const BASE_REFERENCE = 'berth/debian:12';
export const BASE_UPSTREAM = 'docker.io/library/debian:12-slim';

export type BaseImageSettings = {
  readonly reference: string;
  readonly progress: (message: string) => void;
  readonly log: Log;
  /** Whether a registry may be asked; needs a network for the installation. */
  readonly allowPull: boolean;
  /** False where missing tools may not be installed. */
  readonly mayInstall?: boolean;
  /** A network with access to the outside: a private engine's default one has none. */
  readonly network?: string;
  /** Aborts the preparation and removes its leftovers. */
  readonly signal?: AbortSignal;
};

/** The name of an unfinished image. */
export type Draft = { readonly repo: string; readonly tag: string };

/** A workspace's packages beyond the distribution's minimum. */
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
  'openssh-sftp-server',
  'procps',
  'rsync',
  'tmux',
  'vim-tiny',
] as const;

/**
 * Run inside the image as root. The home is the volume, which starts with these files. Copying ping drops its file
 * capability, which containers do not have and ping does not need. The package lists stay, so that the first
 * `apt-get install` in a container finds its package, also on a host without a network.
 */
export const BASE_SETUP =
  'set -e; mkdir -p /workspace; cp -a /etc/skel/. /workspace; chmod 755 /workspace; ' +
  'sed -i "s,^root:x:0:0:root:/root:,root:x:0:0:root:/workspace:," /etc/passwd; ' +
  'cp /usr/bin/ping /usr/bin/ping.new && mv /usr/bin/ping.new /usr/bin/ping; ' +
  'rm -f /var/cache/apt/archives/*.deb';

/** Identifies the recipe, so that an older image is rebuilt. */
export const BASE_LABEL = 'berth.base';
export const BASE_VERSION = shortHash([...BASE_PACKAGES, BASE_SETUP].join(' '));

/** Dockerfile instructions for an imported or committed image. */
export const BASE_CHANGES = [
  'ENV LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  `LABEL ${BASE_LABEL}=${BASE_VERSION}`,
  'WORKDIR /workspace',
  'CMD ["/bin/bash", "-l"]',
] as const;

/** The release that the reference names, whatever this machine has. */
const SUITE = 'bookworm';
const PUBLIC_SOURCES = [
  `deb http://deb.debian.org/debian ${SUITE} main`,
  `deb http://deb.debian.org/debian ${SUITE}-updates main`,
  `deb http://deb.debian.org/debian-security ${SUITE}-security main`,
];

/** Debian's archive keys, by their package. */
export const ARCHIVE_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const TRUSTED_KEYS = '/etc/apt/trusted.gpg.d';

export type Recipe = {
  /** The image's sources.list. */
  readonly sources: readonly string[];
  /** Folders and files of keys for the sources. */
  readonly keys: readonly string[];
  /** Folders of this machine to copy, with their targets. */
  readonly copies: readonly (readonly [from: string, into: string])[];
  /** apt settings that the image needs like this machine. */
  readonly aptOptions: readonly string[];
  /** Only for the build. */
  readonly env: NodeJS.ProcessEnv;
};

/** A recipe with this machine's own package sources; on other distributions with Debian's. */
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

/** This machine's own archive from `apt-get indextargets`, for our release; third-party sources are omitted. */
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

/** From `apt-config dump`. A proxy on this machine serves only the build, since containers cannot reach it. */
export function aptSettings(dump: string): Pick<Recipe, 'aptOptions' | 'env'> {
  // The image's lists are compressed: 9 MB instead of 50.
  const aptOptions = ['Acquire::Languages "none";', 'Acquire::GzipIndexes "true";'];
  const env: NodeJS.ProcessEnv = {};
  for (const line of dump.split('\n').filter((each) => KEPT.test(each))) {
    const proxy = PROXY.exec(line);
    const isLocal = proxy !== null && /\/\/(127\.|localhost|\[::1\])/.test(proxy[2] ?? '');
    if (isLocal) env[`${proxy[1]}_proxy`] = proxy[2];
    else aptOptions.push(line);
  }
  return { aptOptions, env };
}

/** Arguments of mmdebstrap, which writes the archive to stdout. */
export const buildArgs = ({ aptOptions, keys, copies, sources }: Recipe): readonly string[] => [
  '--mode=root',
  '--variant=minbase',
  '--dpkgopt=force-unsafe-io',
  '--skip=cleanup/apt/lists',
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

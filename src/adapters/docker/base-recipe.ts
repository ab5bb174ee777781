import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { readText, run } from './host.ts';
import { shortHash } from './subnet.ts';

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

export type Recipe = {
  readonly codename: string;
  /** sources.list of the image. */
  readonly sources: readonly string[];
  /** apt settings that the image needs as this machine does. */
  readonly aptOptions: readonly string[];
  /** Settings for the time of building alone. */
  readonly env: NodeJS.ProcessEnv;
};

/** How to build the image as this machine itself gets its packages. Throws when it is not Debian-like. */
export async function machineRecipe(): Promise<Recipe> {
  const release = (await readText('/etc/os-release')) ?? '';
  const codename = /^VERSION_CODENAME="?(\w+)"?$/m.exec(release)?.[1];
  if (codename === undefined) throw new Error('this machine has no packages of Debian or Ubuntu');
  const format = '$(REPO_URI)|$(RELEASE)|$(COMPONENT)';
  const [targets, config, signedBy] = await Promise.all([
    run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']),
    run('apt-config', ['dump']),
    signature(),
  ]);
  const { aptOptions, env } = aptSettings(config.stdout);
  return { codename, sources: sourceLines(targets.stdout, codename, signedBy), aptOptions, env };
}

/** The keyring to name when this machine trusts no key for all sources. */
async function signature(): Promise<string> {
  const trusted = await readdir('/etc/apt/trusted.gpg.d').catch(() => []);
  if (trusted.length > 0) return '';
  const names = ['debian-archive-keyring.gpg', 'debian-archive-keyring.pgp', 'ubuntu-archive-keyring.gpg'];
  const ring = names.map((name) => `/usr/share/keyrings/${name}`).find((path) => existsSync(path));
  return ring === undefined ? '' : `[signed-by=${ring}] `;
}

/** The distribution's own sources out of `apt-get indextargets`; sources of third parties stay out. */
export function sourceLines(targets: string, codename: string, signedBy: string): readonly string[] {
  const suites = new Map<string, string[]>();
  for (const line of new Set(targets.split('\n'))) {
    const [uri, suite, component] = line.split('|');
    if (uri === undefined || suite === undefined || component === undefined) continue;
    if (!new RegExp(`^${codename}(-updates|-security|-backports)?(/updates)?$`).test(suite)) continue;
    const key = `${uri} ${suite}`;
    suites.set(key, [...(suites.get(key) ?? []), component]);
  }
  const own = [...suites].filter(([, components]) => components.includes('main'));
  return own.map(([key, components]) => `deb ${signedBy}${key} ${components.join(' ')}`);
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
export function buildArgs(recipe: Recipe, hasOwnCertificates: boolean): readonly string[] {
  const certificates = '/usr/local/share/ca-certificates';
  return [
    '--mode=root',
    '--variant=minbase',
    '--dpkgopt=force-unsafe-io',
    `--include=${BASE_PACKAGES.join(',')}`,
    ...recipe.aptOptions.map((option) => `--aptopt=${option}`),
    ...(hasOwnCertificates
      ? [
          `--customize-hook=copy-in ${certificates} /usr/local/share`,
          '--customize-hook=chroot "$1" update-ca-certificates',
        ]
      : []),
    ...(existsSync('/etc/apt/trusted.gpg.d')
      ? ['--customize-hook=copy-in /etc/apt/trusted.gpg.d /etc/apt']
      : []),
    `--customize-hook=chroot "$1" sh -c '${BASE_SETUP}'`,
    recipe.codename,
    '-',
    ...recipe.sources,
  ];
}

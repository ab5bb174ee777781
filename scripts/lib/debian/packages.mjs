import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';

/**
 * Where packages come from, and where they are cached.
 * @typedef {{
 *   cache: string,
 *   suites: readonly string[],
 *   withSources?: boolean,
 *   why: string,
 * }} Archive `why`: why there must be an apt. The first suite is that of packages without one.
 */

/**
 * Unpacks packages, each with its suite (`containerd/trixie`) or of the archive's first, into a folder that stands for
 * `/`. Nothing is installed.
 * @param {Archive} archive
 * @param {string} name
 * @param {readonly string[]} packages
 * @returns {Promise<string>} the folder
 */
export async function unpack(archive, name, packages) {
  const folder = path.join(archive.cache, name);
  const list = path.join(folder, 'packages');
  if (existsSync(list) && readFileSync(list, 'utf8') === packages.join('\n')) return folder;
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const env = await aptEnvironment(archive);
  // Named with its release: what the machine has may be newer.
  const exact = packages.map((name) => (name.includes('/') ? name : `${name}/${archive.suites[0]}`));
  await must('apt-get', ['download', ...exact], { cwd: draft, env });
  await must('sh', ['-c', 'for one in *.deb; do dpkg -x "$one" . && rm "$one"; done'], { cwd: draft });
  writeFileSync(path.join(draft, 'packages'), packages.join('\n'));
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return folder;
}

/**
 * Downloads and unpacks a source package, without its patches.
 * @param {Archive} archive
 * @param {string} name
 * @param {string} folder
 */
export async function unpackSource(archive, name, folder) {
  const env = await aptEnvironment(archive);
  const download = path.join(archive.cache, 'source');
  rmSync(download, { recursive: true, force: true });
  mkdirSync(download, { recursive: true });
  await must('apt-get', ['source', '--download-only', name], { cwd: download, env });
  mkdirSync(folder, { recursive: true });
  await must('sh', ['-c', 'tar -xf *.orig.tar.* -C "$0" --strip-components=1', folder], { cwd: download });
  rmSync(download, { recursive: true, force: true });
}

/**
 * The environment of an apt with lists and caches of its own: a machine usually lists neither source packages nor other
 * releases, and its own lists are not ours to change.
 * @param {Archive} archive
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
async function aptEnvironment({ cache, suites, withSources = false, why }) {
  const [first = ''] = suites;
  const folder = path.join(cache, 'apt');
  const config = path.join(folder, 'apt.conf');
  const env = { ...process.env, LC_ALL: 'C', APT_CONFIG: config };
  if (existsSync(path.join(folder, 'ready'))) return env;
  for (const name of ['lists/partial', 'archives/partial'])
    mkdirSync(path.join(folder, name), { recursive: true });
  const uri = await address(first, why);
  const sources = suites.map((suite) => `deb ${uri} ${suite} main`);
  if (withSources) sources.push(`deb-src ${uri} ${first} main`);
  writeFileSync(path.join(folder, 'sources.list'), `${sources.join('\n')}\n`);
  writeFileSync(
    config,
    `Dir::Etc::sourcelist "${folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "${folder}/lists";
Dir::Cache "${folder}";
APT::Default-Release "${first}";
APT::Sandbox::User "root";
`,
  );
  await must('apt-get', ['update'], { cwd: folder, env });
  writeFileSync(path.join(folder, 'ready'), '');
  return env;
}

/**
 * The address of this machine's own archive, else Debian's.
 * @param {string} suite
 * @param {string} why
 */
async function address(suite, why) {
  const format = ['indextargets', '--format', '$(REPO_URI)|$(RELEASE)', 'Created-By: Packages'];
  const { code, stdout } = await capture('apt-get', format, { cwd: '/' }).catch(() => ({
    code: 1,
    stdout: '',
  }));
  if (code !== 0) throw new Fault(`${why}, and there is no apt here`);
  const own = stdout.split('\n').find((line) => line.endsWith(`|${suite}`));
  return own?.split('|')[0] ?? 'http://deb.debian.org/debian';
}
/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 */
export async function must(program, args, options) {
  const { code, output } = await capture(program, args, options).catch((error) => {
    throw new Fault(`cannot run ${program}: ${error.message}`);
  });
  if (code !== 0)
    throw new Fault(`${program} ${args[0]} failed:\n${output.trimEnd().split('\n').slice(-20).join('\n')}`);
}

/**
 * The environment for programs of an unpacked folder.
 * @param {string} folder
 */
export function environmentOf(folder) {
  const lib = path.join(folder, 'usr/lib');
  const libraries = readdirSync(lib).filter((name) => name.endsWith('-linux-gnu'));
  return {
    PATH: searchPath(folder),
    LD_LIBRARY_PATH: libraries.map((name) => path.join(lib, name)).join(path.delimiter),
    LC_ALL: 'C',
  };
}

/**
 * A `PATH` that has the programs of an unpacked folder first.
 * @param {string} folder
 */
export function searchPath(folder) {
  const programs = ['usr/sbin', 'usr/bin', 'sbin', 'bin'].map((name) => path.join(folder, name));
  return [...programs, process.env['PATH']].join(path.delimiter);
}

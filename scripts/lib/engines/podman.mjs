import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { capture, watched } from '../command.mjs';
import { environmentOf } from '../debian/packages.mjs';
import { Fault } from '../fault.mjs';

/** A socket path has at most 107 bytes. */
const RUN = '/run/berth-podman';
const SOCKET = path.join(RUN, 'podman.sock');
const SUBNET = '10.213.0.0/24';
const START_TRIES = 100;
const STOP_TRIES = 100;

/**
 * Podman's service of Docker's API, as root, with storage and settings of its own.
 * @param {string} folder
 * @param {string} home
 */
export async function startPodman(folder, home) {
  if (process.getuid?.() !== 0) throw new Fault('Podman of the tests needs root');
  const settings = path.join(home, '.config', 'containers');
  for (const each of [settings, RUN]) mkdirSync(each, { recursive: true });
  writeFileSync(path.join(settings, 'policy.json'), '{"default": [{"type": "insecureAcceptAnything"}]}\n');
  writeFileSync(path.join(settings, 'registries.conf'), 'unqualified-search-registries = []\n');
  const conf = path.join(settings, 'containers.conf');
  writeFileSync(conf, containersConf(folder, home));
  const env = { ...process.env, ...environmentOf(folder), HOME: home, CONTAINERS_CONF: conf };
  const podman = (/** @type {readonly string[]} */ ...args) =>
    capture(path.join(folder, 'usr/bin/podman'), [...storage(home), ...args], { cwd: '/', env });
  const { code, output } = await podman('--version');
  if (code !== 0) throw new Fault(`Podman does not run here:\n${output}`);
  const log = openSync(path.join(home, 'podman.log'), 'a');
  const args = [...storage(home), 'system', 'service', '--time=0', `unix://${SOCKET}`];
  const child = watched(() =>
    spawn(path.join(folder, 'usr/bin/podman'), args, { cwd: '/', env, stdio: ['ignore', log, log] }),
  );
  for (let tries = 0; !(await answers()); tries += 1) {
    if (child.exitCode !== null || tries > START_TRIES)
      throw new Fault(`Podman does not answer: ${path.join(home, 'podman.log')}`);
    await sleep(100);
  }
  return {
    version: output.trim(),
    env: { DOCKER_HOST: `unix://${SOCKET}`, XDG_CACHE_HOME: home },
    async stop() {
      await podman('rm', '--all', '--force', '--time=0');
      await podman('volume', 'prune', '--force');
      await podman('network', 'prune', '--force');
      child.kill('SIGTERM');
      for (let tries = 0; child.exitCode === null && child.signalCode === null; tries += 1) {
        if (tries === STOP_TRIES) child.kill('SIGKILL');
        await sleep(100);
      }
      await capture('umount', ['--quiet', path.join(home, 'storage', 'overlay')], { cwd: '/' });
      rmSync(RUN, { recursive: true, force: true });
    },
  };
}

/** @param {string} home */
const storage = (home) => [`--root=${path.join(home, 'storage')}`, `--runroot=${path.join(RUN, 'storage')}`];

/**
 * @param {string} folder
 * @param {string} home
 */
function containersConf(folder, home) {
  const at = (/** @type {string} */ file) => JSON.stringify(path.join(folder, file));
  return `[containers]
seccomp_profile = ${at('usr/share/containers/seccomp.json')}

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
conmon_path = [${at('usr/bin/conmon')}]
helper_binaries_dir = [${at('usr/lib/podman')}]
init_path = ${at('usr/libexec/podman/catatonit')}

[engine.runtimes]
runc = [${at('usr/sbin/runc')}]

[network]
network_backend = "netavark"
network_config_dir = ${JSON.stringify(path.join(home, 'networks'))}
default_subnet = "${SUBNET}"
`;
}

/** @returns {Promise<boolean>} */
const answers = () =>
  new Promise((resolve) => {
    const request = http.get({ socketPath: SOCKET, path: '/_ping' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.once('error', () => resolve(false));
  });

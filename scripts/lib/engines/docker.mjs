import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';
import { searchPath } from '../debian/packages.mjs';
import { Fault } from '../fault.mjs';

const SOCKET = '/var/run/docker.sock';

/**
 * A private engine of the tests takes the first dockerd of the path. Its image and containers are below `home`: an older
 * dockerd cannot read what a newer one has written.
 * @param {string} folder
 * @param {string} home
 */
export async function dockerEnvironment(folder, home) {
  if (process.getuid?.() !== 0) throw new Fault('an engine of our own needs root');
  if (process.env['DOCKER_HOST'] || existsSync(SOCKET))
    throw new Fault(`the tests would use the engine at ${process.env['DOCKER_HOST'] || SOCKET}`);
  const env = { PATH: searchPath(folder), XDG_CACHE_HOME: home };
  const dockerd = path.join(folder, 'usr/sbin/dockerd');
  const { code, output } = await capture(dockerd, ['--version'], {
    cwd: '/',
    env: { ...process.env, ...env },
  });
  if (code !== 0) throw new Fault(`${dockerd} does not run here:\n${output}`);
  mkdirSync(home, { recursive: true });
  return { version: output.trim(), env, stop: async () => {} };
}

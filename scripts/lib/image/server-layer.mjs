import { chmod, copyFile, cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { create } from 'tar';
import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';
import { systemEnvironment } from '../node.mjs';

/** What the service reads at run time, from a built checkout. */
const FILES = ['package.json', 'package-lock.json', 'db', 'dist', 'web/dist'];
const INSTALL = ['ci', '--omit=dev', '--include=optional', '--prefer-offline', '--no-audit', '--no-fund'];
const HOME = 'opt/berth';

/**
 * Writes the built service with its dependencies, as the layer of an image. `folder` is an empty one for the work.
 * @param {string} root
 * @param {string} folder
 * @param {string} file
 */
export async function writeServerLayer(root, folder, file) {
  const home = path.join(folder, HOME);
  await mkdir(home, { recursive: true });
  for (const name of FILES) await cp(path.join(root, name), path.join(home, name), { recursive: true });
  const { code, output } = await capture('npm', INSTALL, { cwd: home, env: systemEnvironment() });
  if (code !== 0) throw new Fault(`${output}\nnpm ci failed with exit code ${code}`);
  const command = path.join(folder, 'usr/local/bin/berth');
  await mkdir(path.dirname(command), { recursive: true });
  await copyFile(path.join(root, 'docs/deploy/entrypoint.sh'), command);
  await chmod(command, 0o755);
  // Owned by root, without times: the same sources give the same layer.
  await create({ file, cwd: folder, portable: true, mtime: new Date(0) }, ['opt', 'usr']);
}

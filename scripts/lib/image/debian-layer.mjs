import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { buildArgs, machineRecipe } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { watched } from '../command.mjs';
import { Fault } from '../fault.mjs';

/** What the service runs beside Node.js and Debian's minimum. */
const SERVER_PACKAGES = ['ca-certificates'];
const NOT_IN_THE_SERVER = ['doc', 'info', 'locale', 'man'];

/**
 * Writes Debian with what the service needs, as the layer of an image, from this machine's package sources. Needs root.
 * @param {string} file
 */
export async function writeServerRoot(file) {
  const { aptOptions, keys, sources, env } = await machineRecipe();
  const args = [
    '--mode=root',
    '--variant=minbase',
    '--dpkgopt=force-unsafe-io',
    ...NOT_IN_THE_SERVER.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    `--include=${SERVER_PACKAGES.join(',')}`,
    ...aptOptions.map((option) => `--aptopt=${option}`),
    ...keys.map((key) => `--keyring=${key}`),
    'bookworm',
    '-',
    ...sources,
  ];
  await mmdebstrap(args, file, env);
}

/**
 * Writes the file system of the base image of containers, as a layer. Needs root.
 * @param {string} file
 */
export async function writeContainerRoot(file) {
  const recipe = await machineRecipe();
  await mmdebstrap(buildArgs(recipe), file, recipe.env);
}

/**
 * @param {readonly string[]} args
 * @param {string} file
 * @param {NodeJS.ProcessEnv} env
 */
async function mmdebstrap(args, file, env) {
  const draft = `${file}.new`;
  const own = {
    LC_ALL: 'C',
    DEBIAN_FRONTEND: 'noninteractive',
    PATH: `${process.env['PATH']}:/usr/sbin:/sbin`,
  };
  const child = watched(() =>
    spawn('mmdebstrap', args, { env: { ...process.env, ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-2000);
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', ({ message }) => reject(new Fault(`an image needs mmdebstrap: ${message}`)));
    child.once('close', resolve);
  });
  const [code] = await Promise.all([ended, pipeline(child.stdout, createWriteStream(draft))]);
  if (code !== 0)
    throw new Fault(`mmdebstrap failed:\n${output.trimEnd().split('\n').slice(-10).join('\n')}`);
  await rename(draft, file);
}

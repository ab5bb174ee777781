import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { create } from 'tar';
import { writeOciArchive } from '../image/oci-archive.mjs';

/** Collects the orphans of a Pod and ends at a signal, as the usual one. */
const PAUSE = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';
export const PAUSE_IMAGE = 'berth.test/pause:1';
/** As the node knows the base image of containers. */
export const BASE_IMAGE = 'docker.io/berth/debian:12';

/**
 * The archive of the image that each Pod begins with.
 * @param {string} cache
 * @param {string} tools
 */
export async function pauseImage(cache, tools) {
  const file = path.join(cache, 'pause.tar');
  if (existsSync(file)) return file;
  const folder = mkdtempSync(path.join(cache, 'pause-'));
  try {
    mkdirSync(path.join(folder, 'bin'));
    copyFileSync(path.join(tools, 'bin/busybox'), path.join(folder, 'bin/busybox'));
    for (const name of ['sh', 'sleep']) symlinkSync('busybox', path.join(folder, 'bin', name));
    const layer = path.join(folder, 'layer.tar');
    await create({ file: layer, cwd: folder, portable: true }, ['bin']);
    const config = { Cmd: ['/bin/sh', '-c', PAUSE], Env: ['PATH=/bin'] };
    await writeOciArchive(file, { name: PAUSE_IMAGE, layers: [layer], config });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return file;
}

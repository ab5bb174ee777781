import { readFile, rm } from 'node:fs/promises';
import { run } from '../../../adapters/docker/host/host-commands.ts';

const UNIT = '/etc/systemd/system/berth.service';
/** The folders of the unit's changes by `systemctl edit`, settings and cache. */
const FOLDERS = [`${UNIT}.d`, '/etc/berth', '/var/cache/berth'];

/** The systemd unit of the program in `root`, or null. */
export async function unitOf(root: string): Promise<string | null> {
  const text = await readFile(UNIT, 'utf8').catch(() => '');
  return text.split('\n').includes(`WorkingDirectory=${root}`) ? UNIT : null;
}

export async function removeUnit(unit: string): Promise<void> {
  await run('systemctl', ['disable', 'berth.service']);
  for (const file of [unit, ...FOLDERS]) await rm(file, { recursive: true, force: true });
  await run('systemctl', ['daemon-reload']);
}

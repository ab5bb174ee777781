import { lookup } from 'node:dns/promises';
import { readdir } from 'node:fs/promises';
import { within } from '../../../concurrency/timeout.ts';
import { readText } from '../host/host-commands.ts';
import type { Opening } from './firewall-rules.ts';

const LOOKUP_MS = 2000;

/** Addresses of the package mirrors and proxies of this machine's apt, if any. */
export async function packageOpenings(): Promise<readonly Opening[]> {
  const folders = ['/etc/apt', '/etc/apt/sources.list.d', '/etc/apt/apt.conf.d'];
  const names = await Promise.all(folders.map(async (folder) => filesOf(folder)));
  const texts = await Promise.all(names.flat().map(readText));
  const hosts = hostsOf(texts.map((text) => text ?? '').join('\n'));
  return (await Promise.all(hosts.map(openingsOf))).flat();
}

const filesOf = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => /^[^.]*$|\.(list|sources|conf)$/.test(name))
    .map((name) => `${folder}/${name}`);
};

type Host = { readonly name: string; readonly port: number };

/** Host and port of each http or https URL in package sources and settings, once each; without comments. */
export function hostsOf(text: string): readonly Host[] {
  const hosts = new Map<string, Host>();
  const active = text.replaceAll(/^\s*(#|\/\/).*$/gm, '');
  for (const [url] of active.matchAll(/\bhttps?:\/\/[^\s"';]+/g)) {
    if (!URL.canParse(url)) continue;
    const { protocol, hostname, port } = new URL(url);
    const host = { name: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    hosts.set(`${host.name}:${host.port}`, host);
  }
  return [...hosts.values()];
}

async function openingsOf({ name, port }: Host): Promise<readonly Opening[]> {
  const addresses = lookup(name, { family: 4, all: true }).catch(() => []);
  return (await within(LOOKUP_MS, addresses, [])).map(
    ({ address }): Opening => ({ address, port, protocols: ['tcp'] }),
  );
}

import { lookup } from 'node:dns/promises';
import type { Opening } from './firewall-rules.ts';
import { run } from './host.ts';

const LOOKUP_MS = 2000;

/** Addresses of the package mirrors and proxies that this machine's apt uses; none where there is no apt. */
export async function packageOpenings(): Promise<readonly Opening[]> {
  const [targets, config] = await Promise.all([
    run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'], {
      timeoutSeconds: 10,
    }),
    run('apt-config', ['dump'], { timeoutSeconds: 10 }),
  ]);
  const proxies = [...config.stdout.matchAll(/^Acquire::https?::Proxy "(.+)";$/gm)].map(
    (match) => match[1] ?? '',
  );
  const hosts = hostsOf([...targets.stdout.split('\n'), ...proxies]);
  return (await Promise.all(hosts.map(openingsOf))).flat();
}

type Host = { readonly name: string; readonly port: number };

/** Host and port of each http or https URL, once each. */
export function hostsOf(urls: readonly string[]): readonly Host[] {
  const hosts = new Map<string, Host>();
  for (const text of urls) {
    if (!URL.canParse(text)) continue;
    const { protocol, hostname, port } = new URL(text);
    if (protocol !== 'http:' && protocol !== 'https:') continue;
    const host = { name: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    hosts.set(`${host.name}:${host.port}`, host);
  }
  return [...hosts.values()];
}

async function openingsOf({ name, port }: Host): Promise<readonly Opening[]> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), LOOKUP_MS).unref());
  const found = await Promise.race([lookup(name, { family: 4, all: true }).catch(() => null), late]);
  return (found ?? []).map(({ address }): Opening => ({ address, port, protocols: ['tcp'] }));
}

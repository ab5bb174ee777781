import { readText, run, runOrThrow } from '../host/host-commands.ts';
import { gatewayOf, pickSubnet } from './subnet.ts';

type Route = { readonly dst: string; readonly dev?: string };
type Link = { readonly ifname: string; readonly mtu: number };
type AddressedLink = { readonly addr_info: readonly { readonly family: string; readonly local: string }[] };

const ipJson = async <T>(...args: readonly string[]): Promise<readonly T[]> => {
  const { code, stdout } = await run('ip', ['-json', ...args]);
  return code === 0 && stdout.trim() !== '' ? (JSON.parse(stdout) as T[]) : [];
};

/** This machine's routes, addresses and resolvers, which a new subnet must not cover. */
export async function takenAddresses(): Promise<readonly string[]> {
  const [routes, own, resolvers] = await Promise.all([
    ipJson<Route>('-4', 'route', 'show', 'table', 'all'),
    ownAddresses(),
    configuredResolvers(),
  ]);
  return [...routes.map((route) => route.dst), ...own, ...resolvers];
}

export async function ownAddresses(): Promise<readonly string[]> {
  const links = await ipJson<AddressedLink>('-4', 'address', 'show');
  return links.flatMap((link) => (link.addr_info ?? []).map((info) => info.local));
}

/** IPv4 resolvers that containers finally ask: those of resolv.conf, and systemd-resolved's upstreams. */
export async function configuredResolvers(): Promise<readonly string[]> {
  const texts = await Promise.all(['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'].map(readText));
  const found = texts.flatMap((text) => [
    ...(text ?? '').matchAll(/^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm),
  ]);
  const addresses = found.map((match) => match[1] ?? '').filter((address) => !address.startsWith('127.'));
  return [...new Set(addresses)];
}

/** MTU of the default route: a larger one inside containers would stall downloads. 1500 without a route. */
export async function defaultRouteMtu(): Promise<number> {
  const [routes, links] = await Promise.all([
    ipJson<Route>('-4', 'route', 'show', 'default'),
    ipJson<Link>('link', 'show'),
  ]);
  return links.find((link) => link.ifname === routes[0]?.dev)?.mtu ?? 1500;
}

/** Makes the bridge with a free subnet; an existing one stays. */
export async function ensureBridge(name: string, seed: string, mtu: number): Promise<void> {
  const present = await run('ip', ['link', 'show', 'dev', name]);
  if (present.code !== 0) await runOrThrow('ip', ['link', 'add', 'name', name, 'type', 'bridge']);
  const [link] = await ipJson<AddressedLink>('-4', 'address', 'show', 'dev', name);
  if ((link?.addr_info ?? []).length === 0) {
    const subnet = pickSubnet(seed, await takenAddresses());
    await runOrThrow('ip', ['address', 'add', `${gatewayOf(subnet)}/20`, 'dev', name]);
  }
  await runOrThrow('ip', ['link', 'set', 'dev', name, 'mtu', String(mtu), 'up']);
}

export async function removeLink(name: string): Promise<void> {
  await run('ip', ['link', 'delete', 'dev', name]);
}

import { type Run, readText, run, runOrThrow } from '../host/host-commands.ts';
import { gatewayOf, pickSubnet } from './subnet.ts';

type Route = { readonly dst: string; readonly dev?: string };
type Link = { readonly ifname: string; readonly mtu: number };
type AddressedLink = { readonly addr_info: readonly { readonly family: string; readonly local: string }[] };

const ipJson = async <T>(runThere: Run, ...args: readonly string[]): Promise<readonly T[]> => {
  const { code, stdout } = await runThere('ip', ['-json', ...args]);
  return code === 0 && stdout.trim() !== '' ? (JSON.parse(stdout) as T[]) : [];
};

/** The routes, addresses and resolvers of a machine, which a new subnet must not cover. */
export async function takenAddresses(runThere: Run = run): Promise<readonly string[]> {
  const [routes, own, resolvers] = await Promise.all([
    ipJson<Route>(runThere, '-4', 'route', 'show', 'table', 'all'),
    ownAddresses(runThere),
    configuredResolvers(runThere),
  ]);
  return [...routes.map((route) => route.dst), ...own, ...resolvers];
}

export async function ownAddresses(runThere: Run = run): Promise<readonly string[]> {
  const links = await ipJson<AddressedLink>(runThere, '-4', 'address', 'show');
  return links.flatMap((link) => (link.addr_info ?? []).map((info) => info.local));
}

/** IPv4 resolvers that containers finally ask: those of resolv.conf, and systemd-resolved's upstreams. */
export async function configuredResolvers(runThere: Run = run): Promise<readonly string[]> {
  const files = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];
  const texts = await Promise.all(files.map((file) => textOf(file, runThere)));
  const found = texts.flatMap((text) => [
    ...(text ?? '').matchAll(/^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm),
  ]);
  const addresses = found.map((match) => match[1] ?? '').filter((address) => !address.startsWith('127.'));
  return [...new Set(addresses)];
}

async function textOf(path: string, runThere: Run): Promise<string | null> {
  if (runThere === run) return await readText(path);
  const { code, stdout } = await runThere('cat', [path]);
  return code === 0 ? stdout : null;
}

/** MTU of the default route: a larger one inside containers would stall downloads. 1500 without a route. */
export async function defaultRouteMtu(runThere: Run = run): Promise<number> {
  const [routes, links] = await Promise.all([
    ipJson<Route>(runThere, '-4', 'route', 'show', 'default'),
    ipJson<Link>(runThere, 'link', 'show'),
  ]);
  return links.find((link) => link.ifname === routes[0]?.dev)?.mtu ?? 1500;
}

/** Makes the bridge with a free subnet; an existing one stays. */
export async function ensureBridge(name: string, seed: string, mtu: number): Promise<void> {
  const present = await run('ip', ['link', 'show', 'dev', name]);
  if (present.code !== 0) await runOrThrow('ip', ['link', 'add', 'name', name, 'type', 'bridge']);
  const [link] = await ipJson<AddressedLink>(run, '-4', 'address', 'show', 'dev', name);
  if ((link?.addr_info ?? []).length === 0) {
    const subnet = pickSubnet(seed, await takenAddresses());
    await runOrThrow('ip', ['address', 'add', `${gatewayOf(subnet)}/20`, 'dev', name]);
  }
  await runOrThrow('ip', ['link', 'set', 'dev', name, 'mtu', String(mtu), 'up']);
}

export async function removeLink(name: string): Promise<void> {
  await run('ip', ['link', 'delete', 'dev', name]);
}

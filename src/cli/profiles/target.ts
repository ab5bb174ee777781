import { notSignedIn, usageError } from '../cli-error.ts';
import type { Io } from '../io/io.ts';
import type { Hosts, Profile } from './hosts-file.ts';

export type TargetOptions = {
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly profile?: string | undefined;
};

/** Where a command goes, and as whom. A profile's credential goes to that profile's server only. */
export type Target =
  | { readonly kind: 'given'; readonly server: string; readonly token: string }
  | { readonly kind: 'profile'; readonly server: string; readonly name: string; readonly profile: Profile }
  | { readonly kind: 'anonymous'; readonly server: string };

/**
 * Flags win over `BERTH_SERVER`, `BERTH_TOKEN` and `BERTH_PROFILE`, and these over the profile in use. null: no server
 * is known.
 */
export function targetOf(hosts: Hosts, options: TargetOptions, { env }: Pick<Io, 'env'>): Target | null {
  const { server, token, profile: asked } = withVariables(hosts, options, env);
  const name = asked ?? (server === undefined ? hosts.current : profileAt(hosts, server));
  const profile = name === null ? undefined : hosts.profiles[name];
  if (asked !== undefined && profile === undefined) throw unknownProfile(asked, hosts);
  const address = server === undefined ? profile?.server : serverAddress(server);
  if (address === undefined) return null;
  if (token !== undefined) return { kind: 'given', server: address, token };
  return name !== null && profile !== undefined && profile.server === address
    ? { kind: 'profile', server: address, name, profile }
    : { kind: 'anonymous', server: address };
}

/** The variables complete the flags, except where these name another server: a token goes to no server but its own. */
function withVariables({ profiles }: Hosts, flags: TargetOptions, env: Io['env']): TargetOptions {
  const set: TargetOptions = {
    server: env['BERTH_SERVER'] || undefined,
    token: env['BERTH_TOKEN'] || undefined,
    profile: env['BERTH_PROFILE'] || undefined,
  };
  const { server, profile, token = set.token } = flags;
  if (profile !== undefined) return flags;
  const profiled = profiles[set.profile ?? '']?.server;
  const theirs = set.server ?? profiled;
  if (server !== undefined && theirs !== undefined && !isSameServer(theirs, server)) return flags;
  const address = server ?? set.server;
  const isElsewhere = address !== undefined && profiled !== undefined && !isSameServer(profiled, address);
  return { server: address, token, profile: isElsewhere ? undefined : set.profile };
}

const isSameServer = (one: string, other: string): boolean => serverAddress(one) === serverAddress(other);

/** The profile in use when several are for one server, otherwise the first. */
function profileAt(hosts: Hosts, server: string): string | null {
  const address = serverAddress(server);
  const names = Object.keys(hosts.profiles).filter((name) => hosts.profiles[name]?.server === address);
  return names.find((name) => name === hosts.current) ?? names[0] ?? null;
}

export function requireServer(target: Target | null): Target {
  if (target !== null) return target;
  throw notSignedIn('No server is known.', null);
}

export function unknownProfile(name: string, hosts: Hosts): Error {
  const known = Object.keys(hosts.profiles);
  return usageError(
    `There is no profile "${name}".`,
    known.length === 0 ? 'Sign in: berth login --server URL' : `Known: ${known.join(', ')}`,
  );
}

/** The origin of a server's address: `example.com`, `https://example.com/` and `https://example.com` are one. */
export function serverAddress(text: string): string {
  const given = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw usageError(
      `"${url === null ? text : url.host}" is not a server address.`,
      'Give https://HOST or http://HOST:PORT.',
    );
  }
  return url.origin;
}

/** Whether what is sent there can be read on the way. */
export const isUnencrypted = (server: string): boolean => {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
};

import ipaddr from 'ipaddr.js';

/** Where a link in a terminal leads. `inside`: to a program in the container, which the reader's browser cannot reach. */
export type Link =
  | { readonly kind: 'web'; readonly uri: string }
  | { readonly kind: 'inside'; readonly host: string; readonly port: number }
  | { readonly kind: 'none' };

export type InnerLink = Extract<Link, { kind: 'inside' }>;

const USUAL_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Ranges of addresses that mean another machine in the container than in the browser. */
const INSIDE = new Set(['loopback', 'unspecified', 'private', 'linkLocal', 'uniqueLocal']);

function isInside(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && INSIDE.has(ipaddr.process(host).range());
}

export function linkOf(uri: string): Link {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  const usual = USUAL_PORTS[url?.protocol ?? ''];
  if (url === null || usual === undefined) return { kind: 'none' };
  if (!isInside(url.hostname)) return { kind: 'web', uri };
  return { kind: 'inside', host: url.host, port: url.port === '' ? usual : Number(url.port) };
}

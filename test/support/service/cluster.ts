import type { Test } from 'tap';
import {
  fixedClock,
  memoryBusHub,
  memoryRuntime,
  memoryStorage,
} from '../../../src/adapters/memory/index.ts';
import type { ConnectionOptions, Ports } from '../../../src/app/main/compose-options.ts';
import { aContainerOf, fakeTerminals, listening, openTerminal } from '../terminal/terminals.ts';
import { again, anAdmin, aPerson, aService, as, type Person } from './service.ts';

/** What the two processes have in common, and the line of each to the other. */
type Shared = Pick<Ports, 'storage' | 'clock'> &
  Partial<Pick<Ports, 'commands' | 'files' | 'insight' | 'monotonicMs'>> & {
    readonly bus: () => Ports['bus'];
  };

const HOUR_MS = 3_600_000;

export function inMemory(): Shared {
  const clock = fixedClock();
  return { clock, storage: memoryStorage(clock), bus: memoryBusHub().join };
}

/**
 * Two processes of one installation, where Ada has two sessions, an API token and a running container. What closes a socket
 * is a message, unless they look at their sockets more often than once an hour.
 */
export async function aCluster(
  t: Test,
  { bus, ...shared }: Shared = inMemory(),
  { liveEveryMs = HOUR_MS }: Pick<ConnectionOptions, 'liveEveryMs'> = {},
) {
  const backend = fakeTerminals();
  const common = { ...shared, runtime: memoryRuntime(), terminalBackend: backend };
  const replica = () => aService({ ...common, bus: bus() }, { liveEveryMs });
  const [here, there] = [await replica(), await replica()];
  const root = await anAdmin(here);
  const addresses = [await listening(t, here), await listening(t, there)] as const;
  const openFor = (who: Person, ofContainer: string) => openTerminal(addresses[0], ofContainer, who);
  const both = { storage: shared.storage, addresses, here, there, root, backend, openFor };
  return { ...both, ...(await aCrew(both, 'ada')) };
}

/** Ada, by that name: two sessions, an API token and a running container. */
export async function aCrew(
  { here, addresses }: { readonly here: Process; readonly addresses: readonly [string, string] },
  username: string,
) {
  const ada = await aPerson(here, username);
  const other = await again(here, ada, username);
  const made = (await as(here, ada)('POST', '/api/tokens', { name: 'ci' })).json();
  const token: Person = { ...ada, token: made.token };
  const dbId = await aContainerOf(here, ada);
  const open = (who: Person, pane: string, address: string = addresses[0]) =>
    openTerminal(address, dbId, who, pane);
  const openEverywhere = (who: Person, pane: string) =>
    Promise.all(addresses.map((address, at) => open(who, `${pane}-${at}`, address)));
  return { ada, other, token, tokenId: made.id as string, dbId, open, openEverywhere };
}

type Process = Awaited<ReturnType<typeof aService>>;

export type Cluster = Awaited<ReturnType<typeof aCluster>>;

export const NDJSON = { accept: 'application/x-ndjson' };
export const JSON_LIST = { accept: 'application/json' };

/** The service with somebody who has a running container, and short forms for its files. */
export async function aBoxOfAda(ports: Partial<Ports> = {}) {
  const runtime = memoryRuntime();
  const clock = fixedClock();
  const service = await aService({ runtime, clock, ...ports });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const box = (await call('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  const url = `/api/containers/${box.db_id}`;
  const put = (path: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
    service.http.inject({
      method: 'PUT',
      url: `${url}/files?path=${encodeURIComponent(path)}`,
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
      payload,
    });
  const get = (path: string, headers: Record<string, string> = {}) =>
    call('GET', `${url}/files?path=${encodeURIComponent(path)}`, undefined, headers);
  return { runtime, clock, service, ada, call, box, url, put, get };
}

import type { Static, TSchema } from '@sinclair/typebox';
import type { ApiClient } from './api-client.ts';
import { ApiFailure, orNull, refusedCreation } from './api-failure.ts';
import { Anything, Bare, Claim, NetworkPolicy, Pod, pageOf, Secret } from './objects.ts';
import { watchObjects } from './watch.ts';

const PAGE = '500';
const PING_SECONDS = 2;
/** Forbidden by admission, or invalid for a Pod that runs. */
const REFUSED_LIMITS: readonly number[] = [403, 422];
const ONLY_METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** The kinds of objects that Berth has in its namespace, and their paths below it. */
const KINDS = {
  pods: { group: '/api/v1', schema: Pod },
  secrets: { group: '/api/v1', schema: Secret },
  persistentvolumeclaims: { group: '/api/v1', schema: Claim },
  networkpolicies: { group: '/apis/networking.k8s.io/v1', schema: NetworkPolicy },
} as const;

export type Kind = keyof typeof KINDS;
type Kept<K extends Kind> = Static<(typeof KINDS)[K]['schema']>;

/** Removal of an object. `uid`: only of this one. */
export type Removal = { readonly uid?: string; readonly graceSeconds?: number };

/** The objects of one namespace. Throws like `ApiClient`; null stands for an absent object. */
export type Namespace = ReturnType<typeof namespaceOf>;

export function namespaceOf(client: ApiClient) {
  const { namespace } = client.access;
  const pathOf = (kind: Kind, name = ''): string =>
    `${KINDS[kind].group}/namespaces/${namespace}/${kind}${name === '' ? '' : `/${name}`}`;

  return {
    async get<K extends Kind>(kind: K, name: string): Promise<Kept<K> | null> {
      const call = { method: 'GET', path: pathOf(kind, name) } as const;
      return (await orNull([404], client.call(KINDS[kind].schema, call))) as Kept<K> | null;
    },
    /** null when one of that name exists. Throws `EngineFull` when a quota of the namespace refuses it. */
    async create<K extends Kind>(kind: K, body: object): Promise<Kept<K> | null> {
      const call = { method: 'POST', path: pathOf(kind), body } as const;
      return (await client.call(KINDS[kind].schema, call).catch(refusedCreation)) as Kept<K> | null;
    },
    /** Changes what the patch has (RFC 7386). */
    async patch<K extends Kind>(kind: K, name: string, body: object): Promise<Kept<K>> {
      const call = { method: 'PATCH', path: pathOf(kind, name), body } as const;
      return (await client.call(KINDS[kind].schema, call)) as Kept<K>;
    },
    /** Whether the server would take this patch. Changes nothing. */
    async wouldAccept(kind: Kind, name: string, body: object): Promise<boolean> {
      const call = { method: 'PATCH', path: pathOf(kind, name), body, query: { dryRun: 'All' } } as const;
      return (await orNull([403, 404, 422], client.call(KINDS[kind].schema, call))) !== null;
    },
    /** Replaces an object of this version. Throws when it has changed since. */
    async replace(kind: Kind, name: string, body: object): Promise<void> {
      await client.call(Anything, { method: 'PUT', path: pathOf(kind, name), body });
    },
    /** Whether the server answers, and accepts the credentials. */
    async ping(): Promise<void> {
      const query = { limit: '1' };
      await client.call(Anything, { method: 'GET', path: pathOf('pods'), query, seconds: PING_SECONDS });
    },
    watch: (kind: Kind, labelSelector: string, hint: () => void): (() => void) =>
      watchObjects(client, { path: pathOf(kind), labelSelector }, hint),
    /**
     * Asks for other limits of a Pod's containers while they run. `absent`: no such Pod, or a cluster that cannot (before
     * 1.33). `refused`: its node could never have them, or not while it runs, such as less memory in 1.33.
     */
    resizePod: (name: string, containers: readonly object[]): Promise<Resizing> =>
      resized(client, `${pathOf('pods', name)}/resize`, { spec: { containers } }),
    /** Asks for the removal; absent, or another one, is success. */
    async remove(kind: Kind, name: string, { uid, graceSeconds }: Removal = {}): Promise<void> {
      const body = {
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
      };
      await orNull([404, 409], client.call(Anything, { method: 'DELETE', path: pathOf(kind, name), body }));
    },
    listPods: (labelSelector: string): Promise<readonly Pod[]> =>
      listAll(client, Pod, { path: pathOf('pods'), labelSelector, accept: 'application/json' }),
    /** Names and labels alone. */
    listMetadata: (kind: Kind, labelSelector: string): Promise<readonly Bare[]> =>
      listAll(client, Bare, { path: pathOf(kind), labelSelector, accept: ONLY_METADATA }),
  };
}

type Resizing = 'asked' | 'absent' | 'refused';

async function resized(client: ApiClient, path: string, body: object): Promise<Resizing> {
  const call = { method: 'PATCH', path, body, patch: 'strategic-merge' } as const;
  try {
    return (await orNull([404], client.call(Pod, call))) === null ? 'absent' : 'asked';
  } catch (error) {
    if (error instanceof ApiFailure && REFUSED_LIMITS.includes(error.status)) return 'refused';
    throw error;
  }
}

type Listing = { readonly path: string; readonly labelSelector: string; readonly accept: string };

/** All pages of a list. */
async function listAll<S extends TSchema>(
  client: ApiClient,
  schema: S,
  { path, labelSelector, accept }: Listing,
): Promise<Static<S>[]> {
  const items: Static<S>[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const query: Record<string, string> = {
      labelSelector,
      limit: PAGE,
      ...(next === '' ? {} : { continue: next }),
    };
    const page = await client.call(pageOf(schema), { method: 'GET', path, query, accept });
    items.push(...(page.items ?? []));
    next = page.metadata.continue || undefined;
  }
  return items;
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Node, releaseClaim, startNode } from './kubelet.ts';
import { violations } from './pod-security.ts';
import { insecure, noSuchPath, otherClass, type Refusal, statusOf } from './refusals.ts';
import { type Loose, Refused, Store } from './store.ts';

/** A call as the permissions of a role have it. */
export type Verb = { readonly verb: string; readonly resource: string };

export type StandInCluster = {
  readonly url: string;
  /** Of the namespace `berth`. */
  readonly kubeconfig: object;
  readonly store: Store;
  readonly node: Node;
  /** All calls so far. */
  readonly verbs: Verb[];
  /** Answers the next matching call with this, or breaks the connection without an answer. */
  refuseNext(verb: string, resource: string, refusal: Refusal | 'broken'): void;
  /** Whether limits of running Pods can be changed: `false` before 1.33. */
  hasResize: boolean;
  /** Ends all watches, as a server does that restarts. */
  cutWatches(): void;
  close(): Promise<void>;
};

const PATH =
  /^\/(?:api\/v1|apis\/networking\.k8s\.io\/v1)\/namespaces\/berth\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/;
const RESOURCES = ['pods', 'secrets', 'persistentvolumeclaims', 'networkpolicies'];

type Call = {
  readonly method: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  readonly query: URLSearchParams;
  readonly body: Loose;
  readonly asMetadata: boolean;
};

/**
 * An API server in this process, honest about versions, conflicts, deletions and watches, with a stand-in for the
 * kubelet. Its only namespace is `berth`, with Pod Security `restricted`.
 */
export async function startStandInCluster(): Promise<StandInCluster> {
  const store = new Store();
  const watches = new Set<ServerResponse>();
  const refusals: {
    readonly verb: string;
    readonly resource: string;
    readonly refusal: Refusal | 'broken';
  }[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      send(response, error.refusal.status, statusOf(error.refusal));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cluster: StandInCluster = {
    url,
    kubeconfig: kubeconfigOf(url),
    store,
    node: startNode(store),
    verbs: [],
    refuseNext: (verb, resource, refusal) => void refusals.push({ verb, resource, refusal }),
    hasResize: true,
    cutWatches: () => {
      for (const each of watches) each.destroy();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await callOf(request);
    const verb = verbOf(call);
    cluster.verbs.push(verb);
    const at = refusals.findIndex((one) => one.verb === verb.verb && one.resource === verb.resource);
    const refusal = at < 0 ? undefined : refusals.splice(at, 1)[0]?.refusal;
    if (refusal === 'broken') return void request.socket.destroy();
    if (refusal !== undefined) throw new Refused(refusal);
    if (verb.verb === 'watch') return watch(call, response);
    const [status, body] = handle(cluster, call);
    send(response, status, call.asMetadata ? { ...body, items: body.items.map(metadataOf) } : body);
  }

  function watch({ resource, query }: Call, response: ServerResponse): void {
    const line = (type: string, object: Loose): void =>
      void response.write(`${JSON.stringify({ type, object })}\n`);
    const position = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    try {
      const unwatch = store.watch(position, (change) => {
        if (change.resource === resource && selects(query, change.object)) line(change.type, change.object);
        else line('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: String(change.position) } });
      });
      watches.add(response);
      response.once('close', () => {
        unwatch();
        watches.delete(response);
      });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      line('ERROR', statusOf(error.refusal));
      response.end();
    }
  }
  return cluster;
}

const kubeconfigOf = (server: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'here', cluster: { server, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'berth', user: { token: 'a-token' } }],
  contexts: [{ name: 'here', context: { cluster: 'here', user: 'berth', namespace: 'berth' } }],
  'current-context': 'here',
});

async function callOf(request: IncomingMessage): Promise<Call> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const body = await json(request).catch(() => null);
  const [, resource = '', name = '', subresource = ''] = PATH.exec(pathname) ?? [];
  const isKnown = RESOURCES.includes(resource) || pathname === '/api/v1';
  if (!isKnown || (subresource !== '' && subresource !== 'resize')) throw new Refused(noSuchPath);
  const asMetadata = (request.headers.accept ?? '').includes('as=PartialObjectMetadataList');
  return { method: request.method ?? '', resource, name, subresource, query: searchParams, body, asMetadata };
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function verbOf({ method, resource, name, subresource, query }: Call): Verb {
  const reading = query.get('watch') === 'true' ? 'watch' : name === '' ? 'list' : 'get';
  return {
    verb: VERBS[method] ?? reading,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
  };
}

function handle(cluster: StandInCluster, call: Call): readonly [number, Loose] {
  const { store } = cluster;
  const { method, resource, name, body, query } = call;
  if (resource === '') return [200, { kind: 'APIResourceList', resources: resourcesOf(cluster) }];
  if (method === 'POST') return [201, create(store, resource, body)];
  if (method === 'PATCH' && call.subresource === 'resize') return [200, resize(cluster, name, body)];
  if (method === 'PATCH' && query.get('dryRun') === 'All')
    return [200, merged(structuredClone(store.get(resource, name)), body)];
  if (method === 'PATCH')
    return [200, store.update(resource, name, (one) => merged(one, body), body.metadata?.resourceVersion)];
  if (method === 'PUT')
    return [
      200,
      store.update(resource, name, (one) => ({ ...body, metadata: { ...one.metadata, ...body.metadata } })),
    ];
  if (method === 'DELETE') return [200, remove(store, resource, name, body)];
  if (name !== '') return [200, store.get(resource, name)];
  return [200, page(store, resource, query)];
}

/** The part of `/api/v1` that Berth reads. `pods/resize` came with 1.33. */
const resourcesOf = ({ hasResize }: StandInCluster) =>
  ['pods', 'pods/exec', 'pods/log', ...(hasResize ? ['pods/resize'] : [])].map((name) => ({ name }));

function create(store: Store, resource: string, body: Loose): Loose {
  const faults = resource === 'pods' ? violations(body) : [];
  if (faults.length > 0) throw new Refused(insecure(body.metadata.name, faults));
  const status =
    resource === 'networkpolicies' || resource === 'secrets' ? {} : { status: { phase: 'Pending' } };
  return store.create(resource, { ...body, ...status });
}

/** Pods go when their program has ended, claims with their last Pod, everything else at once. */
function remove(store: Store, resource: string, name: string, body: Loose): Loose {
  const present = store.requireUid(resource, name, body?.preconditions?.uid);
  const grace = body?.gracePeriodSeconds ?? 30;
  const isForced = resource === 'pods' && grace === 0;
  if (isForced || (resource !== 'pods' && resource !== 'persistentvolumeclaims'))
    store.remove(resource, name);
  else if (present.metadata['deletionTimestamp'] === undefined) {
    store.update(resource, name, (one) => ({
      ...one,
      metadata: {
        ...one.metadata,
        deletionTimestamp: new Date().toISOString(),
        deletionGracePeriodSeconds: grace,
      },
    }));
    releaseClaim(store, name);
  }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
}

function resize({ store, hasResize }: StandInCluster, name: string, body: Loose): Loose {
  if (!hasResize) throw new Refused(noSuchPath);
  return store.update('pods', name, (pod) => {
    const [container] = pod['spec'].containers;
    const resources = merged(container.resources, body.spec.containers[0].resources);
    const isGuaranteed = JSON.stringify(resources.limits) === JSON.stringify(resources.requests);
    if (isGuaranteed) throw new Refused(otherClass(name));
    return { ...pod, spec: { ...pod['spec'], containers: [{ ...container, resources }] } };
  });
}

function page(store: Store, resource: string, query: URLSearchParams): Loose {
  const all = store.all(resource).filter((one) => selects(query, one));
  const from = Number(query.get('continue') ?? 0);
  const to = from + Number(query.get('limit') ?? all.length);
  const more = to < all.length ? { continue: String(to) } : {};
  return { metadata: { resourceVersion: String(store.position), ...more }, items: all.slice(from, to) };
}

function selects(query: URLSearchParams, { metadata }: Loose): boolean {
  const wanted = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '');
  return wanted.every((one) => {
    const [label = '', value] = one.split('=');
    const present = metadata.labels?.[label];
    return value === undefined ? present !== undefined : present === value;
  });
}

const metadataOf = ({ metadata }: Loose): Loose => ({ kind: 'PartialObjectMetadata', metadata });

/** RFC 7386. */
function merged(target: Loose, patch: Loose): Loose {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const result = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

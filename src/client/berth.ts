import { Container, type Service } from './container.ts';
import { findContainer } from './container-name.ts';
import { type Events, type EventsOptions, followEvents } from './events/follow-events.ts';
import { meOf, sessionsOf, tokensOf } from './groups/account.ts';
import { adminOf } from './groups/admin.ts';
import { auditOf } from './groups/audit.ts';
import { catalogueOf } from './groups/catalogue.ts';
import { type Containers, containersOf } from './groups/containers.ts';
import { type Snapshots, snapshotsOf } from './groups/snapshots.ts';
import { collaborationsOf, recordingsOf } from './groups/terminals.ts';
import { type Api, apiOf, type CallOptions, dataOf, type Schemas } from './request/api.ts';
import { Requester, type RequesterOptions } from './request/requester.ts';
import { bestSocket } from './socket/node-socket.ts';
import type { OpenSocket } from './socket/socket.ts';

export type BerthOptions = Partial<Omit<RequesterOptions, 'observer'>> & {
  /** Instead of the package `ws` in Node.js, else the platform's WebSocket. */
  readonly openSocket?: () => Promise<OpenSocket>;
};

export type CreateOptions = CallOptions & {
  /** Whether `await using` deletes the container at the end of its block; so it does with an `ephemeral` one. */
  readonly deleteAtEnd?: boolean;
};

/**
 * A client of a Berth service. Failed calls throw a `BerthError`. Calls that read, and those that carry an
 * `Idempotency-Key`, are repeated after a lost connection, and after 429 and 503 with `Retry-After`.
 */
export class Berth {
  /** Every operation of the API document, by method and path. */
  readonly api: Api;
  readonly containers: Containers;
  readonly snapshots: Snapshots;
  readonly tokens: ReturnType<typeof tokensOf>;
  readonly sessions: ReturnType<typeof sessionsOf>;
  readonly me: ReturnType<typeof meOf>;
  readonly audit: ReturnType<typeof auditOf<'/api/audit'>>;
  readonly admin: ReturnType<typeof adminOf>;
  readonly catalogue: ReturnType<typeof catalogueOf>;
  readonly recordings: ReturnType<typeof recordingsOf>;
  readonly collaborations: ReturnType<typeof collaborationsOf>;
  readonly #service: Service;

  /**
   * Without options: `BERTH_SERVER` and `BERTH_TOKEN` in Node, the page's own origin in browsers. `BERTH_TOKEN` is not sent
   * to a given `server` that differs from `BERTH_SERVER`.
   */
  constructor(options: BerthOptions = {}) {
    const server = serverOf(options.server);
    const token = options.token === undefined ? tokenFor(server) : options.token;
    const requester = new Requester({ ...options, server, token });
    this.api = apiOf(requester);
    this.containers = containersOf(this.api);
    this.snapshots = snapshotsOf(this.api);
    const { openSocket = bestSocket } = options;
    this.#service = {
      requester,
      containers: this.containers,
      snapshots: this.snapshots,
      openSocket,
    };
    this.tokens = tokensOf(this.api);
    this.sessions = sessionsOf(this.api);
    this.me = meOf(this.api);
    this.audit = auditOf(this.api, requester, '/api/audit');
    this.admin = adminOf(this.api, requester);
    this.catalogue = catalogueOf(this.api);
    this.recordings = recordingsOf(this.api, requester);
    this.collaborations = collaborationsOf(this.api);
  }

  /** Where the service is, without a slash at the end; empty for the page's own origin. */
  get server(): string {
    return this.#service.requester.server;
  }

  /** Creates and starts a container. It may still be `creating`: events report the end. */
  async create(body: Schemas['CreateContainerRequest'], options: CreateOptions = {}): Promise<Container> {
    const { deleteAtEnd = body.ephemeral ?? false, ...call } = options;
    return new Container(this.#service, await this.containers.create(body, call), deleteAtEnd);
  }

  /** A container by its exact name, or by an id. Throws `container_not_found` or `ambiguous_name`. */
  async container(nameOrId: string, options: CallOptions = {}): Promise<Container> {
    const ownId = async () => (await this.me.get(options)).id;
    return new Container(this.#service, await findContainer(this.containers, ownId, nameOrId, options));
  }

  /** Follows the changes of containers across lost connections, for one `for await`. */
  events(options: EventsOptions = {}): Events {
    return followEvents(this.#service.requester, this.#service.openSocket, options);
  }

  /** The announcements that everybody sees now. */
  async announcements(options?: CallOptions): Promise<readonly Schemas['Announcement'][]> {
    return (await dataOf(this.api.GET('/api/announcements', { ...options }))).announcements;
  }

  async version(options?: CallOptions): Promise<string> {
    return (await dataOf(this.api.GET('/api/version', { ...options }))).version;
  }
}

type WithProcess = { readonly process?: { readonly env: Readonly<Record<string, string | undefined>> } };

const environment = (name: string): string | undefined =>
  (globalThis as WithProcess).process?.env[name] || undefined;

/** null: no credential. */
function tokenFor(server: string): string | null {
  const named = environment('BERTH_SERVER');
  const own = named === undefined || (originOf(named) ?? named) === (originOf(server) ?? server);
  return own ? (environment('BERTH_TOKEN') ?? null) : null;
}

/** null: not an address. One without a scheme is of https, as for the command. */
function originOf(server: string): string | null {
  const address = /^[a-z]+:\/\//i.test(server) ? server : `https://${server}`;
  return URL.canParse(address) ? new URL(address).origin : null;
}

function serverOf(given: string | undefined): string {
  const server = given ?? environment('BERTH_SERVER') ?? ('location' in globalThis ? '' : null);
  if (server === null) throw new TypeError('name the server: give `server`, or set BERTH_SERVER');
  if (server !== '' && !/^https?:\/\/[^/]/.test(server))
    throw new TypeError('the server begins with http:// or https://');
  return server.replace(/\/+$/, '');
}

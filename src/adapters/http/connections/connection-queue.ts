import type { Socket } from 'node:net';

/** Whether a connection has sent a complete request. */
type Kind = 'fresh' | 'kept_alive';

/** The connections of one address. */
type Group = {
  readonly listed: { readonly [K in Kind]: Set<Connection> };
  readonly idle: { [K in Kind]: number };
  connections: number;
};

export type Connection = {
  readonly socket: Socket;
  readonly address: string;
  readonly group: Group;
  kind: Kind;
  /** Requests, or the socket that it became. */
  atWork: number;
  /** Whether it worked since it was listed. */
  hasWorked: boolean;
  isGone: boolean;
};

/**
 * Counts connections that are idle and at work, and finds an idle one to close. A listed connection stays where it is
 * while it works, so that a request moves nothing: only the search takes busy ones out, and moves those that have worked
 * behind the others.
 */
export function connectionQueue() {
  const groups = new Map<string, Group>();
  const count = { idle: 0, busy: 0 };

  const countIdle = ({ group, kind }: Connection, by: 1 | -1): void => {
    group.idle[kind] += by;
    count.idle += by;
  };
  const remove = (connection: Connection): void => {
    if (connection.isGone) return;
    connection.isGone = true;
    const { group, address, kind } = connection;
    if (connection.atWork > 0) count.busy -= 1;
    else countIdle(connection, -1);
    group.listed[kind].delete(connection);
    group.connections -= 1;
    if (group.connections === 0) groups.delete(address);
  };
  return {
    count: count as Readonly<typeof count>,
    add(socket: Socket): Connection {
      const connection = joined(groups, socket);
      countIdle(connection, 1);
      return connection;
    },
    /** One more request, or the socket that it becomes. */
    begin(connection: Connection): void {
      connection.atWork += 1;
      connection.hasWorked = true;
      if (connection.atWork > 1 || connection.isGone) return;
      countIdle(connection, -1);
      count.busy += 1;
      if (connection.kind === 'kept_alive') return;
      connection.group.listed.fresh.delete(connection);
      connection.kind = 'kept_alive';
    },
    end(connection: Connection): void {
      if (connection.atWork === 1 && connection.socket.destroyed) remove(connection);
      connection.atWork -= 1;
      if (connection.atWork > 0 || connection.isGone) return;
      count.busy -= 1;
      countIdle(connection, 1);
      const { kept_alive } = connection.group.listed;
      if (kept_alive.has(connection)) return;
      connection.hasWorked = false;
      kept_alive.add(connection);
    },
    remove,
    /** Closes an idle one, preferably a fresh one; false when there is none but `spared`. */
    dropOne(spared: Connection): boolean {
      const found = idleOne(groups, 'fresh', spared) ?? idleOne(groups, 'kept_alive', spared);
      if (found === null) return false;
      remove(found);
      found.socket.destroy();
      return true;
    },
  };
}

/** A new connection, in the group of its address. */
function joined(groups: Map<string, Group>, socket: Socket): Connection {
  const address = socket.remoteAddress ?? '';
  const group = groups.get(address) ?? newGroup();
  groups.set(address, group);
  group.connections += 1;
  const state = { kind: 'fresh', atWork: 0, hasWorked: false, isGone: false } as const;
  const connection: Connection = { socket, address, group, ...state };
  group.listed.fresh.add(connection);
  return connection;
}

/** An idle one of this kind, of the address that has the most; null when there is none but `spared`. */
function idleOne(groups: ReadonlyMap<string, Group>, kind: Kind, spared: Connection): Connection | null {
  const isIdle = spared.kind === kind && spared.atWork === 0 && !spared.isGone;
  let most: Group | null = null;
  let mostIdle = 0;
  for (const group of groups.values()) {
    const idle = group.idle[kind] - (isIdle && group === spared.group ? 1 : 0);
    if (idle > mostIdle) [most, mostIdle] = [group, idle];
  }
  if (most === null) return null;
  const listed = most.listed[kind];
  for (const connection of listed) {
    if (connection === spared) continue;
    if (connection.atWork === 0 && !connection.hasWorked) return connection;
    listed.delete(connection);
    // The end of its work lists a busy one again.
    if (connection.atWork > 0) continue;
    connection.hasWorked = false;
    listed.add(connection);
  }
  return null;
}

const newGroup = (): Group => ({
  listed: { fresh: new Set(), kept_alive: new Set() },
  idle: { fresh: 0, kept_alive: 0 },
  connections: 0,
});

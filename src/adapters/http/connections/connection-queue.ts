import type { Socket } from 'node:net';

/** Whether a connection has sent a complete request. */
type Kind = 'fresh' | 'kept_alive';

/** Idle connections, in the order in which they became idle. */
export function waitingConnections() {
  /** By kind and address; a set keeps the order. */
  const sets: { readonly [K in Kind]: Map<string, Set<Socket>> } = {
    fresh: new Map(),
    kept_alive: new Map(),
  };
  const entries = new Map<Socket, { readonly kind: Kind; readonly address: string }>();

  const remove = (socket: Socket): void => {
    const entry = entries.get(socket);
    if (entry === undefined) return;
    const { kind, address } = entry;
    entries.delete(socket);
    const same = sets[kind].get(address);
    same?.delete(socket);
    if (same?.size === 0) sets[kind].delete(address);
  };
  /** The oldest of the address with the most. */
  const oldestOf = (kind: Kind, spared: Socket): Socket | null => {
    let most: Set<Socket> | null = null;
    for (const same of sets[kind].values()) if (same.size > (most?.size ?? 0)) most = same;
    for (const socket of most ?? []) if (socket !== spared) return socket;
    return null;
  };
  return {
    count: (): number => entries.size,
    add(socket: Socket, kind: Kind): void {
      const address = socket.remoteAddress ?? '';
      entries.set(socket, { kind, address });
      const same = sets[kind].get(address) ?? new Set();
      sets[kind].set(address, same.add(socket));
    },
    delete: remove,
    /** Closes one, preferably a fresh one; false when there is none but `spared`. */
    dropOne(spared: Socket): boolean {
      const socket = oldestOf('fresh', spared) ?? oldestOf('kept_alive', spared);
      if (socket === null) return false;
      remove(socket);
      socket.destroy();
      return true;
    },
  };
}

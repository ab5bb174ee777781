import type { onRequestHookHandler } from 'fastify';
import type { AddressSockets } from '../../../app/identity/limits/sockets-by-address.ts';
import { Refusal } from '../../../domain/errors.ts';
import { addressOf } from '../auth/request-origin.ts';
import type { Http } from '../fastify-types.ts';
import { releaseWithSocket } from './concurrent-use.ts';

export type SocketLimit = {
  readonly addressSockets: AddressSockets;
  readonly socketsPerAddress: () => Promise<number>;
};

/**
 * Refuses a socket above its address's limit, before the upgrade. It runs after the authentication, so that only
 * signed-in users' sockets count. A plain request is refused alike, since browsers hide the answer to a refused
 * upgrade; it counts for nothing.
 */
export function limitSocketsByAddress(http: Http, { addressSockets, socketsPerAddress }: SocketLimit): void {
  const limit: onRequestHookHandler = (request, reply, done) => {
    socketsPerAddress()
      .then((most) => {
        const taken = addressSockets.take(addressOf(request), most);
        if (!taken.ok) return new Refusal(taken.error);
        if (request.ws) releaseWithSocket(reply, taken.value);
        else taken.value();
        return undefined;
      })
      .then(done, done);
  };
  // Only on these routes: a hook on all costs each request.
  http.addHook('onRoute', (route) => {
    if (route.config?.subprotocol !== undefined) route.onRequest = [route.onRequest ?? [], limit].flat();
  });
}

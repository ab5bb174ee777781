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
  http.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.subprotocol === undefined) return done();
    socketsPerAddress()
      .then((most) => {
        const taken = addressSockets.take(addressOf(request), most);
        if (!taken.ok) return new Refusal(taken.error);
        if (request.ws) releaseWithSocket(reply, taken.value);
        else taken.value();
        return undefined;
      })
      .then(done, done);
  });
}

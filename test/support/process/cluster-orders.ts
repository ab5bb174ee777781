import { request } from 'node:http';
import path from 'node:path';

/** Gives an order, such as `kill` and `n2`, to the first process of a test cluster. Resolves when it is carried out. */
export function giveOrder(socketPath: string, act: string, name: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const call = request({ socketPath, method: 'POST', path: path.posix.join('/', act, name) });
  call.once('error', reject).once('response', (answer) => {
    answer.resume();
    if (answer.statusCode === 204) resolve();
    else reject(new Error(`the cluster does not ${act} ${name}`));
  });
  call.end();
  return promise;
}

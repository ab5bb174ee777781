import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** What a stopping service does while its WebSockets are still open. */
    beforeSocketsClose: (work: () => void) => void;
  }
}

/** Call it before @fastify/websocket is registered, which closes all WebSockets in the same hook. */
export function workBeforeSocketsClose(http: FastifyInstance): void {
  const all: (() => void)[] = [];
  http.decorate('beforeSocketsClose', (work) => {
    all.push(work);
  });
  http.addHook('preClose', (done) => {
    for (const work of all) work();
    done();
  });
}

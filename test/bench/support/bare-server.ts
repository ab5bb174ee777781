/** Fastify with default options answering one JSON: the baseline for the service. */
import Fastify from 'fastify';
import { announce } from './servers.ts';
import { TOKEN_BODY } from './token-body.ts';

const http = Fastify();
http.get('/api/tokens/validate', (_request, reply) => {
  reply.send(TOKEN_BODY);
});
const address = await http.listen({ host: '127.0.0.1', port: 0 });
announce({ address }, () => http.close());

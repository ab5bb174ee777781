/** Fastify with default options answering one JSON: the baseline for the service. */
import Fastify from 'fastify';
import { announce } from './servers.ts';

const body = {
  valid: true,
  scopes: ['read', 'write'],
  user: {
    id: '11111111-1111-4111-8111-111111111111',
    username: 'root',
    email: 'root@example.org',
    tier: 'enterprise',
    role: 'admin',
  },
};

const http = Fastify();
http.get('/api/tokens/validate', (_request, reply) => {
  reply.send(body);
});
const address = await http.listen({ host: '127.0.0.1', port: 0 });
announce({ address }, () => http.close());

import { UserBody } from '../schema/auth.ts';
import type { Routes } from '../server.ts';
import { toUserBody } from './user-body.ts';

export const meRoutes = (): Routes => (http) => {
  http.get(
    '/api/me',
    { config: { scope: 'read' }, schema: { response: { 200: UserBody } } },
    async (request) => toUserBody(request.caller.user),
  );
};

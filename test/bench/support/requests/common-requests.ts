/** The requests that a page makes most, with a login token, against the least that the same service answers. */
import type { Row } from '../report/rows.ts';
import { onService } from '../whole-service.ts';
import { ratesOf } from './turns.ts';

/** The base is `GET /livez`. */
export const requestRows = (rounds: number): Promise<readonly Row[]> =>
  onService(async ({ service, admin: { token } }) => {
    const headers = { authorization: `Bearer ${token}` };
    const at = (path: string) => ({ url: service.address + path, headers });
    const targets = {
      livez: { url: `${service.address}/livez` },
      me: at('/api/me'),
      containers: at('/api/containers'),
    };
    const { livez, me, containers } = await ratesOf(targets, rounds);
    const row = (what: string, berth: number, atLeast: number): Row => ({
      what: `${what} (base: GET /livez), requests a second`,
      values: { base: livez, berth },
      digits: 0,
      targets: [{ of: 'base', atLeast }],
    });
    return [
      row('GET /api/me with a login token', me, 0.18),
      row('GET /api/containers with none', containers, 0.15),
    ];
  });

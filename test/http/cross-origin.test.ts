import t from 'tap';
import { aPerson, aService } from '../support/service/service.ts';

const PAGE = 'https://app.example.org';

t.test('a page of an allowed origin may ask, and read the answer', async (t) => {
  const service = await aService({}, { allowedOrigins: new Set([PAGE]) });
  const { token } = await aPerson(service, 'ada');
  const asked = {
    origin: PAGE,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
  };
  const preflight = await service.http.inject({ method: 'OPTIONS', url: '/api/me', headers: asked });
  t.equal(preflight.statusCode, 204);
  t.match(preflight.headers, {
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': /PATCH/,
    'access-control-allow-headers': /authorization, content-type, idempotency-key/,
    vary: 'Origin',
  });
  t.notOk('access-control-allow-credentials' in preflight.headers, 'cookies stay with the own page');
  const headers = { origin: PAGE, authorization: `Bearer ${token}` };
  for (const [method, url, status] of [
    ['GET', '/api/me', 200],
    ['GET', '/api/nothing', 404],
    ['POST', '/api/tokens', 400],
  ] as const) {
    const answer = await service.http.inject({ method, url, headers });
    t.equal(answer.statusCode, status);
    t.equal(answer.headers['access-control-allow-origin'], PAGE);
    t.match(answer.headers['access-control-expose-headers'], /retry-after/);
  }
});

t.test('a page of another origin learns nothing', async (t) => {
  const service = await aService({}, { allowedOrigins: new Set([PAGE]) });
  const { token } = await aPerson(service, 'ada');
  const origin = 'https://evil.example.org';
  const bearer = { authorization: `Bearer ${token}` };
  for (const headers of [
    { origin, ...bearer },
    { origin: 'null', ...bearer },
    { origin, 'access-control-request-method': 'POST' },
    bearer,
  ]) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const answer = await service.http.inject({ method, url: '/api/me', headers });
      t.same(
        Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        [],
      );
    }
  }
});

import { createContext, runInContext } from 'node:vm';
import t from 'tap';
import { usableForMs } from '../../web/src/session/login-token-life.ts';
import { aFolderOf } from '../support/folder.ts';
import { aService, as } from '../support/service/service.ts';

const PAGE = '/docs';

/** The addresses in the page. */
const linksIn = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);

t.test('the page loads only files of this service, as UTF-8', async (t) => {
  const get = as(await aService(), null);
  const page = await get('GET', PAGE);
  t.match(page.headers['content-type'], 'text/html; charset=utf-8');
  const links = linksIn(page.body);
  t.ok(links.length > 5);
  for (const link of links) {
    t.match(link, /^\/docs\/static\//);
    const { statusCode, headers } = await get('GET', link);
    t.equal(statusCode, 200, link);
    if (/\.(js|css)$/.test(link)) t.match(headers['content-type'], /charset=utf-8/i, link);
  }
  t.notMatch(page.body, /<script>|style=|onload=/, 'nothing inline');
});

t.test('the page has the headers of the app, and the answers of the API keep theirs', async (t) => {
  const service = await aService({}, { webRoot: aFolderOf(t, { 'index.html': '<html></html>' }) });
  const policy = async (url: string) =>
    (await as(service, null)('GET', url, undefined, { accept: 'text/html' })).headers[
      'content-security-policy'
    ];
  const ofTheApp = await policy('/');
  t.match(ofTheApp, /default-src 'none';script-src 'self';/);
  for (const url of [PAGE, `${PAGE}/`, `${PAGE}/static/swagger-initializer.js`])
    t.equal(await policy(url), ofTheApp, url);
  for (const url of ['/api/openapi.json', '/api/version', '/docsx'])
    t.match(await policy(url), url === '/docsx' ? ofTheApp : "default-src 'none'; frame-ancestors 'none'");
});

t.test('the page keeps no credential and takes no other document', async (t) => {
  const get = as(await aService(), null);
  const { body } = await get('GET', `${PAGE}/static/swagger-initializer.js`);
  t.match(body, /"persistAuthorization":false|persistAuthorization: ?false/);
  t.notMatch(body, /queryConfigEnabled/);
  const { statusCode, headers } = await get('GET', `${PAGE}/json`);
  t.same([statusCode, headers.location], [302, '/api/openapi.json']);
});

t.test('only files of the page are found below it', async (t) => {
  const get = as(await aService(), null);
  for (const path of ['/nope', '/static/../package.json', '/static/%2e%2e/package.json', '/static/nope.js'])
    t.equal((await get('GET', `${PAGE}${path}`)).statusCode, 404, path);
});

type Sent = { readonly url: string; readonly authorization: string | undefined };
type Asked = { readonly headers: Readonly<Record<string, string>>; readonly loadSpec?: boolean };
type Fetch = (url: string, request: Asked) => Promise<Response>;
type Message = { readonly type: string; readonly login?: object; readonly ended?: string | null };

const PATH = '/api/me';
const EXPIRES = '2026-01-01T00:15:00Z';
const IN_TIME = Date.parse('2026-01-01T00:00:00Z');

const aLogin = (token: string) => ({ token, expires_at: EXPIRES });
const refusal = (status: number, body: object = {}) => Response.json(body, { status });
const bearer = (token: string): Sent => ({ url: PATH, authorization: `Bearer ${token}` });
const RENEWAL = { url: '/api/auth/refresh', authorization: undefined };

/** The page's script in a browser that remembers a session; `answers`: of the service, in order. */
async function aPage(answers: readonly Response[] = [], clock = IN_TIME) {
  const script = (await as(await aService(), null)('GET', '/docs/static/theme/reader.js')).body;
  const left = [...answers];
  const sent: Sent[] = [];
  const messages: Message[] = [];
  const stored: Record<string, string> = { 'berth.signed_in': 'yes' };
  const time = { passedMs: 0 };
  let hear: (event: { readonly data: Message }) => void = () => {};
  const fetch: Fetch = async (url, { headers }) => {
    sent.push({ url, authorization: headers?.['Authorization'] });
    const answer = left.shift();
    if (answer === undefined) throw new Error(`no answer to ${url}`);
    return answer;
  };
  const page = createContext({
    fetch,
    navigator: {},
    performance: { now: () => time.passedMs },
    Date: { parse: Date.parse, now: () => clock },
    localStorage: {
      getItem: (name: string) => stored[name] ?? null,
      setItem: (name: string, value: string) => {
        stored[name] = value;
      },
    },
    BroadcastChannel: class {
      addEventListener(_type: string, listener: typeof hear) {
        hear = listener;
      }
      postMessage(message: Message) {
        messages.push(message);
      }
    },
  });
  runInContext(script, page);
  const asReader = page['asReader'] as (request: Asked) => Promise<Asked & { readonly userFetch?: Fetch }>;
  /** Sends as the library does. */
  const send = async (headers: Asked['headers'] = {}): Promise<number> => {
    const request = await asReader({ headers });
    return (await (request.userFetch ?? fetch)(PATH, request)).status;
  };
  return { send, sent, messages, stored, time, hear: (data: Message) => hear({ data }) };
}

t.test('a request has the token of the session, which is renewed like the app renews it', async (t) => {
  for (const time of ['2026-01-01T00:05:00Z', '2025-12-31T00:00:00Z', '2026-01-01T05:00:00Z']) {
    const clock = Date.parse(time);
    const answers = [refusal(200), refusal(200), refusal(200, aLogin('two')), refusal(200)];
    const page = await aPage(answers, clock);
    page.hear({ type: 'signed_in', login: aLogin('one') });
    const usable = usableForMs(EXPIRES, clock);
    for (const passedMs of [0, usable - 1, usable]) {
      page.time.passedMs = passedMs;
      t.equal(await page.send(), 200);
    }
    t.same(page.sent, [bearer('one'), bearer('one'), RENEWAL, bearer('two')], time);
    t.same(page.messages, [{ type: 'signed_in', login: aLogin('two') }]);
  }
});

t.test('a refused token is renewed once', async (t) => {
  const page = await aPage([refusal(401), refusal(200, aLogin('two')), refusal(401)]);
  page.hear({ type: 'signed_in', login: aLogin('one') });
  t.equal(await page.send(), 401);
  t.same(page.sent, [bearer('one'), RENEWAL, bearer('two')]);
});

t.test('a renewal that fails is the failure, and nothing is sent without the session', async (t) => {
  const page = await aPage([
    refusal(503, { error: 'the database does not respond' }),
    refusal(200, aLogin('one')),
    refusal(200),
  ]);
  await t.rejects(page.send(), { message: 'The session was not renewed: the database does not respond' });
  t.same(page.sent, [RENEWAL]);
  t.equal(page.stored['berth.signed_in'], 'yes');
  t.equal(await page.send(), 200, 'the next request tries again');
});

t.test('a session that has ended is forgotten, also by the other tabs', async (t) => {
  const page = await aPage([refusal(401, { reason: 'expired' }), refusal(401), refusal(401)]);
  for (const _ of [1, 2]) t.equal(await page.send(), 401);
  const bare = { url: PATH, authorization: undefined };
  t.same(page.sent, [RENEWAL, bare, bare], 'no other renewal');
  t.same(page.messages, [{ type: 'signed_out', ended: 'expired' }]);
  t.equal(page.stored['berth.signed_in'], 'no');
});

t.test('a credential that was entered is the only one', async (t) => {
  const page = await aPage([refusal(401)]);
  page.hear({ type: 'signed_in', login: aLogin('one') });
  t.equal(await page.send({ Authorization: 'Bearer entered' }), 401);
  t.same(page.sent, [bearer('entered')]);
});

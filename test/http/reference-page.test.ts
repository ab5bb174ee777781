import t from 'tap';
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

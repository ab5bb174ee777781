import { createServer } from 'node:http';
import path from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { build } from 'vite';
import { openBrowser } from '../support/browser/chromium.ts';
import { aPagedService } from '../support/browser/memory-page.ts';
import { openPage } from '../support/browser/page.ts';
import { addressOf } from '../support/listen.ts';
import { waitFor } from '../support/patience.ts';
import { anApiToken, aPerson } from '../support/service/service.ts';
import { fakeTerminals } from '../support/terminal/terminals.ts';

/** `berth/client` alone, as a bundler makes it for a page. */
async function theBundle(): Promise<string> {
  const entry = path.resolve('src/client/index.ts');
  const lib = { entry, formats: ['es' as const], fileName: 'client' };
  const built = await build({ configFile: false, logLevel: 'warn', build: { lib, write: false } });
  const [{ output } = { output: [] }] = [built].flat() as { output: { code?: string }[] }[];
  t.equal(output.length, 1, 'one file, with nothing else to load');
  return output[0]?.code ?? '';
}

/** A page that has nothing but the client, at an origin of its own. */
async function aForeignPage(t: Test): Promise<string> {
  const code = await theBundle();
  const server = createServer((request, answer) => {
    const isScript = request.url === '/client.js';
    answer.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    answer.end(isScript ? code : '<!doctype html><title>a page</title>');
  });
  return await addressOf(t, server);
}

/** Runs in the page, which has `Berth` and `berth`. */
const inPage = async <T>(page: Page, address: string, token: string, code: string): Promise<T> =>
  (await page.evaluate(`(async () => {
    const { Berth } = await import('/client.js');
    const berth = new Berth({ server: ${JSON.stringify(address)}, token: ${JSON.stringify(token)} });
    ${code}
  })()`)) as T;

t.test('the client works in a page of another origin, by itself', async (t) => {
  const browser = await openBrowser(t);
  if (browser === null) return;
  const terminalBackend = fakeTerminals();
  const origin = await aForeignPage(t);
  const paged = await aPagedService(t, { terminalBackend }, { allowedOrigins: new Set([origin]) });
  const { token } = await anApiToken(paged.service, await aPerson(paged.service, 'ada'));
  const { page, faults } = await openPage(browser);
  await page.goto(origin);
  const run = <T>(code: string): Promise<T> => inPage<T>(page, paged.address, token, code);

  const seen = await run(`
    const events = berth.events();
    await events.connected;
    const box = await berth.create({ name: 'web' });
    const { value: event } = await events.next();
    const cat = await box.exec(['cat'], { stdin: true });
    await cat.write(new Uint8Array([0, 255, 10]));
    await cat.closeInput();
    const bytes = [];
    for await (const piece of cat) bytes.push(...piece.bytes);
    const failure = await berth.create({ name: 'web' }).catch((error) => error);
    return {
      ...{ event: [event.type, event.data.name], bytes, exitCode: await cat.exitCode },
      names: (await berth.containers.list().all()).map(({ name }) => name),
      output: (await box.run(['echo', 'hello'])).stdout,
      failure: [failure.code, failure.requestId !== null],
    };`);
  t.same(seen, {
    event: ['container_created', 'web'],
    bytes: [0, 255, 10],
    exitCode: 0,
    names: ['web'],
    output: 'hello\n',
    failure: ['name_taken', true],
  });

  const opening = run<string>(`
    const terminal = await (await berth.container('web')).terminal();
    terminal.write('typed ');
    await terminal.until('one ');
    return JSON.stringify(terminal.detach());`);
  await waitFor(() => terminalBackend.opened.length === 1, { what: 'the terminal' });
  const [pty] = terminalBackend.opened;
  pty?.say('one ');
  const point = await opening;
  await page.reload();
  pty?.say('two');
  const rest = await run(`
    const terminal = await (await berth.container('web')).terminal({ resume: ${point} });
    terminal.write('more');
    return await terminal.until('two');`);
  t.equal(rest, 'two', 'a terminal continues to the byte after a reload');
  await waitFor(() => pty?.typed() === 'typed more', { what: () => pty?.typed() ?? '' });
  t.same(
    faults.filter((fault) => !/status of (409|426)/.test(fault)),
    [],
  );
});

import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import type { RoleInstaller } from '../../../src/ports/containers/inside/container-commands.ts';
import { aScene, type PagedService, signedIn } from '../../support/browser/memory-page.ts';
import { openPage } from '../../support/browser/page.ts';
import { waitFor } from '../../support/patience.ts';
import { anAdmin, aPerson, as, type Person } from '../../support/service/service.ts';
import { fakeTerminals } from '../../support/terminal/terminals.ts';

let memoryKills = 0;
const insight = {
  ...memoryPorts(fixedClock(new Date())).insight,
  load: async () => ({ at: new Date(), cpuMillicores: 10, memoryBytes: 1_000, memoryKills, pids: 1 }),
};

/** An installation ends when it is told to. */
let installed = (): void => {};
const installer: RoleInstaller = {
  async install() {
    const ending = new Promise<void>((resolve) => {
      installed = resolve;
    });
    return {
      events: (async function* () {
        await ending;
        yield { kind: 'exit' as const, exitCode: 0 };
      })(),
      end: async () => installed(),
    };
  },
};

type Scene = {
  readonly browser: Browser;
  readonly paged: PagedService;
  readonly root: Person;
  readonly terminals: ReturnType<typeof fakeTerminals>;
};

const opened: { readonly faults: string[] }[] = [];
async function pageOf({ browser, paged }: Scene, who: string, at = '/') {
  const visit = await signedIn(browser, paged, who, at);
  opened.push(visit);
  return visit.page;
}

const line = (page: Page, text: string) => page.locator('.xterm-rows > div', { hasText: text });

/** The terminal of a new user's container, `<username>-box`, with a line of output. */
async function aTerminal(scene: Scene, username: string, text: string) {
  const { paged, terminals } = scene;
  const who = await aPerson(paged.service, username);
  const id = await paged.container(who, `${username}-box`);
  const before = terminals.opened.length;
  const page = await pageOf(scene, username, `/containers/${id}`);
  await waitFor(() => terminals.opened.length > before);
  terminals.opened.at(-1)?.say(`${text}\r\n`);
  await line(page, text).waitFor();
  return { who, id, page };
}

/** As if the tab were seen again, which reads its figures anew. */
const seenAgain = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as { document: EventTarget };
    for (const state of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
      document.dispatchEvent(new Event('visibilitychange'));
    }
  });

const tests: Readonly<Record<string, (t: Test, scene: Scene) => Promise<void>>> = {
  async 'a first visit asks for nothing that is refused'(t, { browser, paged }) {
    const visit = await openPage(browser);
    opened.push(visit);
    const refused: string[] = [];
    visit.page.on('response', (response) => response.status() >= 400 && refused.push(response.url()));
    await visit.page.goto(paged.address);
    await visit.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visit.page.waitForLoadState('networkidle');
    t.same(refused, []);
  },

  async 'a link in a terminal shows where it leads'(t, scene) {
    const { page } = await aTerminal(scene, 'ada', 'https://example.org/where');
    const box = await line(page, 'example.org').locator('span').first().boundingBox();
    if (box === null) throw new Error('the line is not shown');
    await page.mouse.move(box.x + 20, box.y + box.height / 2);
    await page.locator('.link-hint', { hasText: 'https://example.org/where' }).waitFor();
    await page.mouse.move(box.x + 20, box.y + 200);
    await page.locator('.link-hint').waitFor({ state: 'detached' });
    t.pass('and no longer than it is pointed at');
  },

  async 'a terminal says that a program ran out of memory'(t, scene) {
    const measure = async (): Promise<void> => {
      scene.paged.clock.advance(60_000);
      await scene.paged.service.sampleFigures();
    };
    const { who: bea, id, page } = await aTerminal(scene, 'bea', 'ready');
    const figures = async () =>
      (await as(scene.paged.service, bea)('GET', `/api/figures?ids=${id}`)).json().figures[0];
    await waitFor(async () => (await figures()).time !== null);
    const first = page.waitForResponse((answer) => answer.url().includes('/api/figures'));
    await seenAgain(page);
    await first;
    memoryKills += 1;
    await measure();
    await waitFor(async () => (await figures()).killed_at !== null);
    await seenAgain(page);
    await page.getByText('A program ran out of memory and was ended').waitFor();
    await page.getByText(/bea-box reached its limit of 256 MB/).waitFor();
    t.pass('with its limit');
  },

  async 'a stopped container shows no latency'(t, scene) {
    const { who: cas, id, page } = await aTerminal(scene, 'cas', 'ready');
    const facts = page.locator('.line-facts');
    await facts.getByText(/^\d+ ms$/).waitFor();
    await as(scene.paged.service, cas)('POST', `/api/containers/${id}/stop`);
    await page.getByText('cas-box is stopped').first().waitFor();
    t.equal(await facts.count(), 0, 'which would be that of another time');
  },

  async 'the screen is cleared when a participant may no longer see it'(_t, scene) {
    const { service } = scene.paged;
    const eve = await aPerson(service, 'eve');
    const { who: dan, id } = await aTerminal(scene, 'dan', 'the-secret');
    const path = `/api/containers/${id}/collaborations`;
    const share = (await as(service, dan)('POST', path, { mode: 'view' })).json();
    await as(service, eve)('POST', '/api/collaborations/join', { code: share.code });
    const before = scene.terminals.opened.length;
    const reader = await pageOf(scene, 'eve', `/containers/${id}`);
    await waitFor(() => scene.terminals.opened.length > before);
    scene.terminals.opened.at(-1)?.say('the-secret\r\n');
    await line(reader, 'the-secret').waitFor();
    await as(service, dan)('DELETE', `/api/collaborations/${share.id}`);
    await reader.getByText(/is no longer shared with you/).waitFor();
    await line(reader, 'the-secret').waitFor({ state: 'detached' });
  },

  async 'the owner reads who can type by another link'(t, scene) {
    const { service } = scene.paged;
    const gus = await aPerson(service, 'gus');
    const { who: fay, id, page } = await aTerminal(scene, 'fay', 'ready');
    for (const mode of ['view', 'control']) {
      const path = `/api/containers/${id}/collaborations`;
      const { code } = (await as(service, fay)('POST', path, { mode })).json();
      await as(service, gus)('POST', '/api/collaborations/join', { code });
    }
    await page.getByRole('button', { name: 'Share this terminal' }).click();
    await page.getByText('gus can also type, by another link').waitFor();
    t.equal(await page.locator('.share-participant').count(), 2, 'he has both');
  },

  async 'a deletion that failed can be tried again from the row'(t, scene) {
    const hal = await aPerson(scene.paged.service, 'hal');
    await scene.paged.container(hal, 'hal-box');
    const page = await pageOf(scene, 'hal');
    const { runtime } = scene.paged;
    const { remove } = runtime;
    runtime.remove = async () => {
      throw new Error('no');
    };
    await page.getByRole('button', { name: 'More for hal-box' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    runtime.remove = remove;
    await again.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('hal-box is deleted').waitFor();
    t.equal(await page.getByRole('link', { name: 'hal-box' }).count(), 0);
  },

  async 'the page says when tools are installed'(t, scene) {
    const { service } = scene.paged;
    const role = { key: 'slow', label: 'Slow', script: 'echo done' };
    t.equal((await as(service, scene.root)('POST', '/api/admin/roles', role)).statusCode, 201);
    const ida = await aPerson(service, 'ida');
    const body = { name: 'ida-box', role: 'slow', memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };
    t.equal((await as(service, ida)('POST', '/api/containers', body)).statusCode, 201);
    const page = await pageOf(scene, 'ida');
    await page.getByRole('button', { name: 'Tools of ida-box' }).waitFor();
    installed();
    await page.getByText('The tools of ida-box are installed').waitFor();
  },

  async 'a dialog with entries asks before it throws them away'(t, scene) {
    await aPerson(scene.paged.service, 'joe');
    const page = await pageOf(scene, 'joe');
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New container' });
    await dialog.getByLabel('Name').fill('half-typed');
    await dialog.getByLabel('Image').selectOption({ index: 0 });
    await dialog.getByLabel('Toolset').selectOption({ index: 0 });
    await page.keyboard.press('Escape');
    await dialog.getByText('Discard what you entered?').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    t.equal(await dialog.getByLabel('Name').inputValue(), 'half-typed');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
  },

  async 'a menu of a person says why an act is not possible, and a disabled one is enabled'(t, scene) {
    const { service } = scene.paged;
    const kim = await aPerson(service, 'kim');
    const { users } = service.ports.storage.repositories;
    const at = new Date(Date.now() - 60_000);
    await users.change(kim.id, { disabled: true, endsAt: at });
    const page = await pageOf(scene, 'root', '/admin');
    const menu = (name: string) => page.getByRole('button', { name: `More for ${name}` }).click();
    const reason = (item: string, why: string) =>
      page.getByRole('menuitem', { name: item, disabled: true }).getByText(why).waitFor();
    await menu('root');
    await reason('Delete…', 'Not for your own account');
    await page.keyboard.press('Escape');
    await menu('kim');
    await reason('Reset password…', 'Enable the account first');
    await page.getByRole('menuitem', { name: 'Enable', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Enable kim?' });
    await dialog.getByText('They can sign in again').waitFor();
    await dialog.getByLabel('End of the account', { exact: true }).selectOption('No end');
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('kim is enabled').waitFor();
    const after = await users.findById(kim.id);
    t.match(after, { disabledAt: null, endsAt: null });
    await menu('kim');
    await reason('Reset second factor…', 'There is none');
  },
};

const terminals = fakeTerminals();
const scene = await aScene(t, { terminalBackend: terminals, insight, installer });
if (scene !== null) {
  const root = await anAdmin(scene.paged.service);
  for (const [name, work] of Object.entries(tests)) {
    await t.test(name, (t) => work(t, { ...scene, root, terminals }));
  }
  // Refused requests are reported as well, and some tests want one.
  const faults = opened.flatMap(({ faults }) => faults).filter((one) => !one.includes('Failed to load'));
  t.same(faults, [], 'no script failed');
}

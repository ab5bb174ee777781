import type { Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openBrowser } from '../support/browser.ts';
import { fillPerson, openPage, PERSON, typeLine, typeUntilAnswered } from '../support/page.ts';
import { aPlace, client, startService } from '../support/running-service.ts';

t.setTimeout(300_000);

type Scene = {
  readonly page: Page;
  readonly faults: string[];
  readonly address: string;
  readonly call: ReturnType<typeof client>;
  readonly container: string;
};

/** A container's terminal in a browser, and requests of who has it; null when this machine cannot have them. */
async function aTerminal(t: Test): Promise<Scene | null> {
  const [place, browser] = [await aPlace(t), await openBrowser(t)];
  if (place === null || browser === null) return null;
  const { address, setupCode } = await startService(t, place);
  const { page, faults } = await openPage(browser);
  await page.goto(`${address}/setup#code=${setupCode}`);
  await fillPerson(page);
  await page.getByText('No containers yet').waitFor();
  const { email, password } = PERSON;
  const login = await client(address)('POST', '/api/auth/login', { email, password });
  const call = client(address, login.body['token'] as string);
  const { body } = await call('POST', '/api/containers', { name: 'panes' });
  const container = String(body['db_id']);
  await page.goto(`${address}/containers/${container}`);
  await typeUntilAnswered(page, 'clear; echo up-$((6*7))', /^up-42/);
  return { page, faults, address, call, container };
}

const look = (page: Page, name: string) => page.screenshot({ path: `.tap/panes-${name}.png` });
const pane = (page: Page, at: number): Locator => page.locator('.pane').nth(at);
const shells = (page: Page): Promise<number> => page.locator('.pane .xterm-rows').count();

/** Waits until it is so; what it was last is told otherwise. */
async function until<T>(page: Page, ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (const end = Date.now() + 45_000; ; ) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (Date.now() > end) throw new Error(`it is still ${JSON.stringify(answer)}`);
    await page.waitForTimeout(50);
  }
}

/** What a pane shows, line by line. */
const linesOf = (at: Locator): Promise<string[]> =>
  at.locator('.xterm-rows > div').evaluateAll((rows) => rows.map((row) => row.textContent?.trimEnd() ?? ''));

/** Runs a command in the shell of the pane with the focus, and answers the word that it printed. */
async function answerOf(page: Page, command: string): Promise<string> {
  const mark = `m${Math.random().toString(36).slice(2, 8)}`;
  const answer = new RegExp(`^${mark}=(.*)=$`);
  const active = page.locator('.pane:focus-within');
  await active.waitFor();
  for (let tries = 0; tries < 8; tries += 1) {
    await typeLine(page, `echo "${mark}=$(${command})="`);
    for (let looks = 0; looks < 100; looks += 1) {
      const found = (await linesOf(active)).map((line) => answer.exec(line)?.[1]).find(Boolean);
      if (found !== undefined) return found;
      await page.waitForTimeout(50);
    }
  }
  throw new Error(`no answer to ${command} among:\n${(await linesOf(active)).join('\n')}`);
}

/** Size that a pane's shell was told, once it is what the screen has. */
async function sizeOf(page: Page): Promise<{ rows: number; cols: number }> {
  const facts = async (): Promise<string> =>
    (await page.locator('.line-facts').innerText()).replace('×', 'x');
  return until(
    page,
    async () => {
      const [rows = 0, cols = 0] = (await answerOf(page, 'stty size')).split(' ').map(Number);
      return { rows, cols, shown: await facts() };
    },
    ({ rows, cols, shown }) => shown.includes(`${cols}x${rows}`),
  );
}

/** Multiplexer sessions in the container, from inside. */
async function sessions({ call, container }: Scene): Promise<string[]> {
  const script = "tmux -S /run/berth-tmux list-sessions -F '#{session_name}'";
  const { body } = await call('POST', `/api/containers/${container}/exec`, { command: ['sh', '-c', script] });
  return String(body['stdout'])
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

const goTo = async (page: Page, at: number, key: string): Promise<void> => {
  await page.keyboard.press(`Control+Shift+Arrow${key}`);
  await until(
    page,
    () => pane(page, at).evaluate((element) => element.matches(':focus-within')),
    (has) => has,
  );
};

async function lookAtIt(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(200);
    await look(page, `${name}-${colorScheme}`);
  }
}

t.test(
  'splits, each with a shell of its own, that outlive a reload and end when they are closed',
  async (t) => {
    const scene = await aTerminal(t);
    if (scene === null) return;
    const { page, faults } = scene;
    const alone = await sizeOf(page);
    const main = await answerOf(page, 'tty');
    await page.keyboard.press('Control+Shift+E');
    await until(
      page,
      () => shells(page),
      (count) => count === 2,
    );
    const right = await answerOf(page, 'tty');
    t.not(right, main, 'another shell');
    const half = await sizeOf(page);
    t.ok(
      half.cols > alone.cols / 2 - 4 && half.cols < alone.cols / 2,
      `${half.cols} of ${alone.cols} columns`,
    );
    t.equal(half.rows, alone.rows);
    await lookAtIt(page, 'two');
    await page.keyboard.press('Control+Shift+O');
    await until(
      page,
      () => shells(page),
      (count) => count === 3,
    );
    const below = await sizeOf(page);
    t.equal(below.cols, half.cols);
    t.ok(below.rows < alone.rows / 2, `${below.rows} of ${alone.rows} rows`);
    await answerOf(page, 'echo KEPT');
    await typeLine(page, 'KEPT=below');

    await goTo(page, 0, 'Left');
    t.equal(await answerOf(page, 'tty'), main);
    t.equal((await sizeOf(page)).cols, half.cols);
    await goTo(page, 1, 'Right');
    t.equal(await answerOf(page, 'tty'), right);
    await typeLine(page, 'KEPT=right; printf "\\033]0;a title\\007"');
    await until(
      page,
      () => page.title(),
      (title) => title.startsWith('a title'),
    );
    await goTo(page, 2, 'Down');
    await until(
      page,
      () => page.title(),
      (title) => !title.startsWith('a title'),
    );

    const before = await sessions(scene);
    t.equal(before.length, 3, before.join(' '));
    await page.reload();
    await until(
      page,
      () => shells(page),
      (count) => count === 3,
    );
    await page.locator('.pane.active').nth(0).waitFor();
    t.equal(
      await answerOf(page, 'echo $KEPT'),
      'below',
      'the same pane has the focus, and its shell is the same',
    );
    await goTo(page, 1, 'Up');
    t.equal(await answerOf(page, 'echo $KEPT'), 'right');
    t.same(await sessions(scene), before);

    await goTo(page, 2, 'Down');
    await page.keyboard.press('Control+Shift+X');
    await until(
      page,
      () => shells(page),
      (count) => count === 2,
    );
    const closedAt = performance.now();
    await until(
      page,
      () => sessions(scene),
      (now) => now.length === 2,
    );
    t.ok(performance.now() - closedAt < 30_000, 'its session ends long before a lost line would end it');
    t.equal((await sizeOf(page)).rows, alone.rows, 'the neighbour has its room, and the focus');
    t.equal(await answerOf(page, 'echo $KEPT'), 'right');
    await typeLine(page, 'exit');
    await until(
      page,
      () => shells(page),
      (count) => count === 1,
    );
    t.equal(await answerOf(page, 'tty'), main, 'a shell that ends gives its room and the focus away');
    t.same(await sizeOf(page), alone);
    t.same(await sessions(scene), ['main']);
    await typeLine(page, 'exit');
    await page.getByText('The shell has ended').waitFor();
    t.equal(await page.locator('.pane').count(), 1, 'the main pane stays');
    t.same(faults, []);
  },
);

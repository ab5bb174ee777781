import type { Locator, Page, Request } from 'playwright-core';
import type { Who, World } from './world.ts';

/** One screen: who opens what, and what is done until it shows. */
export type Scene = {
  /** The pictures' file name; letters, digits and hyphens. */
  readonly name: string;
  /** The user of the page; `nobody` is signed out. By default a user with containers. */
  readonly who?: Who | 'nobody';
  readonly route: string | ((world: World) => string | Promise<string>);
  /** What the page must show, before the steps. */
  readonly shows?: string | RegExp;
  /** Before the page is opened: answers that are replaced, for states that cannot be made at will. */
  readonly before?: (page: Page, world: World) => Promise<unknown>;
  /** From the opened page to the screen. It may be run twice, wide and on a phone. */
  readonly steps?: (page: Page, world: World) => Promise<unknown>;
  /** Errors in the console that belong to the scene, as a refused request. */
  readonly expects?: RegExp;
  /** A library's page: its accessibility and width are not ours. */
  readonly isOfLibrary?: boolean;
};

/** The button of that name. */
export const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });

export const press = async (page: Page | Locator, name: string | RegExp): Promise<void> =>
  await button(page, name).first().click();

/** Steps that press these buttons in turn. */
export const pressing =
  (...names: readonly (string | RegExp)[]) =>
  async (page: Page): Promise<void> => {
    for (const name of names) await press(page, name);
  };

/** Steps that open a menu, and choose an item of it. */
export const choosing = (menu: string | RegExp, item?: string | RegExp) => async (page: Page) => {
  await press(page, menu);
  if (item === undefined) await page.getByRole('menuitem').first().waitFor();
  else await page.getByRole('menuitem', { name: item }).click();
};

/** Steps that press a button, and wait for its dialog. */
export const asking = (name: string | RegExp) => async (page: Page) => {
  await press(page, name);
  await page.getByRole('dialog').waitFor();
};

/** Steps that choose an item of a menu, and wait for its dialog. */
export const askingFrom =
  (menu: string | RegExp, item: string | RegExp, more?: (page: Page) => Promise<unknown>) =>
  async (page: Page) => {
    await choosing(menu, item)(page);
    await page.getByRole('dialog').waitFor();
    await more?.(page);
  };

export const seeing = (page: Page | Locator, words: string | RegExp): Promise<void> =>
  page.getByText(words).filter({ visible: true }).first().waitFor();

/** Answers requests to that path with what `make` makes of the service's own answer. */
export async function answering(
  page: Page,
  path: RegExp,
  make: (body: Record<string, unknown>, request: Request) => object,
  status = 200,
): Promise<void> {
  await page.route(path, async (route, request) => {
    const answer = await route.fetch();
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    await route.fulfill({
      status,
      contentType: 'application/json',
      body: JSON.stringify(make(body, request)),
    });
  });
}

/** A socket of the page that a scene can lose: the page then gets no other. */
export function losable(path: RegExp): {
  readonly before: (page: Page) => Promise<void>;
  readonly lose: (page: Page) => void;
} {
  const lost = new WeakSet<Page>();
  const open = new WeakMap<Page, Set<() => void>>();
  return {
    before: (page) =>
      page.routeWebSocket(path, (socket) => {
        const close = (): void => void socket.close({ code: 1011, reason: 'test' });
        if (lost.has(page)) return close();
        open.set(page, (open.get(page) ?? new Set()).add(close));
        socket.connectToServer();
      }),
    lose(page) {
      lost.add(page);
      for (const close of open.get(page) ?? []) close();
    },
  };
}

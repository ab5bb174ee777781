import type { Page } from 'playwright-core';
import { CLOSE_CODES } from '../../../../src/protocol/close-codes.ts';
import { PROMPT, typeUntilAnswered, waitForLine } from '../../../support/browser/page.ts';
import { openShop } from '../../../support/browser/shop.ts';
import { answering, askingFrom, button, losable, type Scene, seeing } from '../scene.ts';
import { done, type World } from '../world.ts';

const TERMINAL = /\/api\/containers\/[^/]+\/terminal/;
const CONTAINER = /\/api\/containers\/[0-9a-f-]+$/;

const of =
  (name: string) =>
  ({ ids }: World) =>
    `/containers/${ids[name]}`;

const WEB_API = { route: of('web-api') } as const;

/** Closes the terminal at the first message of the service. */
const closedBy =
  (reason: keyof typeof CLOSE_CODES): NonNullable<Scene['before']> =>
  (page) =>
    page.routeWebSocket(TERMINAL, (socket) => {
      socket.connectToServer().onMessage(() => void socket.close({ code: CLOSE_CODES[reason], reason }));
    });

const LINE = losable(TERMINAL);

/** A program was ended a moment after the page was opened. */
const killedLater = ({ figures }: Record<string, unknown>): object => ({
  figures: (figures as readonly object[]).map((one) => ({
    ...one,
    killed_at: new Date(Date.now() + 5_000).toISOString(),
  })),
});

/** The container as it is, with some of it replaced. */
const whichIs =
  (over: object): NonNullable<Scene['before']> =>
  (page) =>
    answering(page, CONTAINER, (container) => ({ ...container, ...over }));

const AGENT = { agent: { platform: 'linux x64', last_seen_at: new Date().toISOString() }, image: null };

/** Bytes a second, so that an upload can be seen. */
const SLOW_BYTES = 1_000_000;

async function dragOver(page: Page, kind: 'dragover' | 'drop', megabytes: number): Promise<void> {
  const files = await page.evaluateHandle(
    `(() => { const files = new DataTransfer(); for (const name of ['holiday photos.zip', 'notes.md'])
      files.items.add(new File([new Uint8Array(${megabytes} * 1048576)], name)); return files; })()`,
  );
  await page.locator('.terminal-host').first().dispatchEvent(kind, { dataTransfer: files });
}

async function viewed({ calls: { ada, lou }, ids }: World): Promise<string> {
  const share = { mode: 'view', expires_in_minutes: 60 };
  const { url } = await done(ada('POST', `/api/containers/${ids['web-api']}/collaborations`, share));
  await done(lou('POST', '/api/collaborations/join', { code: String(url).split('code=')[1] }));
  return `/containers/${ids['web-api']}`;
}

/** States of a terminal beside its ordinary one. After the scenes that make its project. */
export const TERMINAL_STATES: readonly Scene[] = [
  {
    name: 'terminal-keys',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      const ctrl = button(page, /^Ctrl, control/);
      if (!(await ctrl.isVisible())) return;
      await ctrl.tap();
      await ctrl.tap();
      await button(page, /^Alt/).tap();
    },
  },
  {
    name: 'terminal-drop',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      await dragOver(page, 'dragover', 1);
      await page.locator('.drop-hint').waitFor();
    },
  },
  {
    name: 'terminal-uploads',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      const network = await page.context().newCDPSession(page);
      await network.send('Network.enable');
      await network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: SLOW_BYTES,
      });
      await dragOver(page, 'drop', 20);
      await page.locator('.uploads progress:not([value="0"], [value^="0.0"])').first().waitFor();
    },
  },
  {
    name: 'terminal-copy-offer',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      await typeUntilAnswered(
        page,
        `printf '\\033]52;c;%s\\a' "$(printf 'npm install && npm test' | base64)"; echo ready`,
        /^ready/,
      );
      await page.locator('.copy-offer').waitFor();
    },
  },
  { name: 'terminal-viewed', who: 'lou', route: viewed, steps: (page) => waitForLine(page, /root@/) },
  {
    name: 'terminal-connecting',
    ...WEB_API,
    before: (page) => page.routeWebSocket(TERMINAL, () => {}),
    shows: 'Connecting to web-api…',
  },
  {
    name: 'terminal-reconnecting',
    ...WEB_API,
    before: LINE.before,
    steps: async (page) => {
      await openShop(page);
      LINE.lose(page);
      // Sent when the page is back, so it is at the prompt of the scenes after this one.
      await page.keyboard.insertText('        ');
      await seeing(page, /^Connection lost/);
    },
    expects: /426/,
  },
  {
    name: 'terminal-out-of-memory',
    ...WEB_API,
    before: (page) => answering(page, /\/api\/figures/, killedLater),
    steps: async (page) => {
      await openShop(page);
      await page.locator('.toast').waitFor();
    },
  },
  { name: 'terminal-updating', ...WEB_API, before: whichIs({ status: 'updating' }), shows: /being updated/ },
  {
    name: 'terminal-agent-away',
    ...WEB_API,
    before: whichIs({ ...AGENT, status: 'stopped' }),
    shows: 'is not connected',
  },
  {
    name: 'terminal-stopped-for-space',
    ...WEB_API,
    before: whichIs({
      status: 'stopped',
      status_reason: 'over its limit outside /workspace: 2049 of 2048 MB',
      layer: { used_mb: 2049, limit_mb: 2048 },
    }),
    shows: /within a minute/,
  },
  {
    name: 'terminal-no-processes',
    ...WEB_API,
    before: closedBy('too many processes'),
    shows: 'process limit',
    expects: /426/,
  },
  {
    name: 'terminal-no-database',
    ...WEB_API,
    before: closedBy('try again later'),
    shows: 'its database',
    expects: /426/,
  },
  {
    name: 'terminal-share-ended',
    ...WEB_API,
    before: closedBy('collaboration ended'),
    shows: 'no longer shared',
  },
  { name: 'terminal-tools-missing', route: of('data'), steps: (page) => waitForLine(page, PROMPT) },
  {
    name: 'terminal-closed-by-administrator',
    ...WEB_API,
    steps: async (page, { calls: { root } }) => {
      await openShop(page);
      const { terminals } = await done(root('GET', '/api/admin/terminals'));
      for (const { id, username } of terminals as readonly { id: string; username: string }[])
        if (username === 'ada') await done(root('DELETE', `/api/admin/terminals/${id}`));
      await seeing(page, 'Closed by an administrator');
    },
    expects: /WebSocket|401|426/,
  },
  {
    name: 'terminal-shortcuts',
    ...WEB_API,
    steps: async (page) => {
      await openShop(page);
      await askingFrom('Terminal menu', 'Keyboard shortcuts')(page);
    },
  },
];

import type { Page } from 'playwright-core';

type InPage = {
  readonly DataTransfer: new () => { setData(type: string, text: string): void };
  readonly ClipboardEvent: new (type: string, options: object) => Event;
};

/** Pastes like a browser: the text comes with the event. */
export const paste = (page: Page, text: string): Promise<unknown> =>
  page.locator('.xterm-helper-textarea').evaluate((area, pasted) => {
    const inPage = globalThis as unknown as InPage;
    const clipboardData = new inPage.DataTransfer();
    clipboardData.setData('text/plain', pasted);
    area.dispatchEvent(
      new inPage.ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, text);

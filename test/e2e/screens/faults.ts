import type { Page } from 'playwright-core';

/** Chromium's errors when an interface of the machine comes or goes, and when a page is left. */
const OF_THE_MACHINE = /net::ERR_NETWORK_CHANGED/;

/** Collects what goes wrong in the page: script errors, policy violations, failed and outside requests. */
export function faultsOf(page: Page, address: string, expected: RegExp | undefined): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() !== 'error' || OF_THE_MACHINE.test(text) || expected?.test(text)) return;
    faults.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== address) faults.push(`outside: ${request.url()}`);
  });
  return faults;
}

import { storedInTab, storeInTab } from './browser/storage.ts';

const RELOADED_AT = 'reloaded-at';
const AGAIN_AFTER_MS = 500;
const RELOADED_LATELY_MS = 60_000;

export type Tab = {
  readonly nowMs: () => number;
  readonly reload: () => void;
};

const thisTab: Tab = { nowMs: Date.now, reload: () => location.reload() };

/**
 * Imports a module when it is needed. That fails with the network, and for good when the service has been updated. Most
 * browsers remember the failure and do not ask again (whatwg/html#6768), so the page is reloaded, once; programs in
 * terminals keep running. Rejects when that did not help.
 */
export async function lazyImport<T>(load: () => Promise<T>, tab: Tab = thisTab): Promise<T> {
  try {
    return await load().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
      return await load();
    });
  } catch (failure) {
    const lastMs = Number(storedInTab(RELOADED_AT) ?? Number.NEGATIVE_INFINITY);
    if (tab.nowMs() - lastMs < RELOADED_LATELY_MS) throw failure;
    storeInTab(RELOADED_AT, String(tab.nowMs()));
    // why: a tab without storage would reload itself for ever
    if (storedInTab(RELOADED_AT) === null) throw failure;
    tab.reload();
    return await new Promise<never>(() => {});
  }
}

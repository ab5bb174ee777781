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
 * A part of the page that is loaded when it is needed. It fails with the network, and for good where another version of
 * the service has other parts. Most browsers remember that and do not ask again (whatwg/html#6768), so the page is loaded
 * anew, once: what runs in terminals stays. Rejects when that was of no use.
 */
export async function latePart<T>(load: () => Promise<T>, tab: Tab = thisTab): Promise<T> {
  try {
    return await load().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
      return await load();
    });
  } catch (failure) {
    const lastMs = Number(storedInTab(RELOADED_AT) ?? Number.NEGATIVE_INFINITY);
    if (tab.nowMs() - lastMs < RELOADED_LATELY_MS) throw failure;
    storeInTab(RELOADED_AT, String(tab.nowMs()));
    // why: a tab that may keep nothing would load itself for ever
    if (storedInTab(RELOADED_AT) === null) throw failure;
    tab.reload();
    return await new Promise<never>(() => {});
  }
}

/** Reads and writes a storage of this browser, under names that start with `berth.`. Storage may be forbidden. */
const keeper = (storage: () => Storage) => ({
  read(key: string): string | null {
    try {
      return storage().getItem(`berth.${key}`);
    } catch {
      return null;
    }
  },
  /** null removes the value. */
  write(key: string, value: string | null): void {
    try {
      if (value === null) storage().removeItem(`berth.${key}`);
      else storage().setItem(`berth.${key}`, value);
    } catch {
      // why: a browser that forbids storage still gets a working page
    }
  },
});

export const { read: stored, write: store } = keeper(() => localStorage);

/** Of this tab, across reloads. A duplicated tab copies it. */
export const { read: storedInTab, write: storeInTab } = keeper(() => sessionStorage);

/** Calls `act` when another tab has stored this key, until the returned function is called. */
export function onStored(key: string, act: () => void): () => void {
  const onStorage = (event: StorageEvent): void => {
    if (event.key === `berth.${key}`) act();
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}

/** Whether this browser keeps anything at all. */
export function storageWorks(): boolean {
  store('probe', 'yes');
  return stored('probe') === 'yes';
}

/** What this browser keeps under a name, or null; storage may be forbidden. */
export function stored(key: string): string | null {
  try {
    return localStorage.getItem(`berth.${key}`);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(`berth.${key}`, value);
  } catch {
    // why: a browser that forbids storage still gets a working page
  }
}

/** Whether this browser keeps anything at all. */
export function storageWorks(): boolean {
  store('probe', 'yes');
  return stored('probe') === 'yes';
}

/** What this tab keeps under a name, across reloads, or null. A tab that is duplicated copies it. */
export function storedInTab(key: string): string | null {
  try {
    return sessionStorage.getItem(`berth.${key}`);
  } catch {
    return null;
  }
}

/** null: nothing any more. */
export function storeInTab(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(`berth.${key}`);
    else sessionStorage.setItem(`berth.${key}`, value);
  } catch {
    // why: a browser that forbids storage still gets a working page
  }
}

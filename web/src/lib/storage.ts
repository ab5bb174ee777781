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

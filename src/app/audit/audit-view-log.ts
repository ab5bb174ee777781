/** Returns true once in `everyMs` per key, to record repeated requests only now and then. */
export function oncePer(everyMs: number, nowMs: () => number): (key: string) => boolean {
  const last = new Map<string, number>();
  return (key) => {
    const now = nowMs();
    for (const [other, at] of last) if (now - at >= everyMs) last.delete(other);
    if (last.has(key)) return false;
    last.set(key, now);
    return true;
  };
}

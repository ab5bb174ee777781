/** The name that was probably meant: of several the nearest, and none that is far off. */
export function closest(typed: string, names: readonly string[]): string | null {
  const ranked = names
    .map((name) => ({ name, steps: distance(typed.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps);
  const [first] = ranked;
  const allowed = Math.max(1, Math.floor(typed.length / 3));
  return first !== undefined && first.steps <= allowed ? first.name : null;
}

/** Letters to change, add, leave out or swap with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_one, column) => column)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (rows[i - 1]?.[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const best = Math.min(change, (rows[i - 1]?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(best, (rows[i - 2]?.[j - 2] ?? 0) + 1) : best);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

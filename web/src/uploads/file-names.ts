/** A name that is not taken: `a.txt`, then `a-2.txt`. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let count = 2; ; count += 1) {
    const next = `${stem}-${count}${ending}`;
    if (!taken.has(next)) return next;
  }
}

const PLAIN = /^[\w./@%+=:,-]+$/;

/** The path as one word of a shell's line. */
export const shellWord = (path: string): string =>
  PLAIN.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

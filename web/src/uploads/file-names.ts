/** The name without control characters: typed into a terminal, they would act as keys. */
export const plainName = (name: string): string => name.replace(/\p{Cc}/gu, '_');

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

/** The path as one word of a shell's line, without control characters. */
export function shellWord(path: string): string {
  const plain = plainName(path);
  return PLAIN.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}

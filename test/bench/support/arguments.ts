/** The arguments of a bench: numbers as `name=value`, and names of sections. */

const args = process.argv.slice(2);

export function given(name: string, otherwise: number): number {
  const text = args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  const value = Number(text ?? otherwise);
  if (!(value > 0)) throw new Error(`${name} is a number above 0, not ${text}`);
  return value;
}

/** The sections named, else all. */
export function namedSections<T extends string>(all: readonly T[]): readonly T[] {
  const named = args.filter((arg) => !arg.includes('='));
  const unknown = named.filter((name) => !all.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`no such section: ${unknown.join(', ')}; ${all.join(', ')}`);
  return named.length === 0 ? all : all.filter((one) => named.includes(one));
}

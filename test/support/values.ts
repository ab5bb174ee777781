/** One field of each item, in order. */
export const valuesOf = <K extends string, V>(items: readonly Readonly<Record<K, V>>[], field: K): V[] =>
  items.map((item) => item[field]);

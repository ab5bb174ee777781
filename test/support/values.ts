/** One field of each item, in order. */
export const valuesOf = <K extends string, V>(items: readonly Readonly<Record<K, V>>[], field: K): V[] =>
  items.map((item) => item[field]);

/** The number of random inputs: more of them in `npm run test:all`. */
export const thorough = (usual: number, more: number): number =>
  process.env['THOROUGH'] === '1' ? more : usual;

/** A decision's outcome: a value, or a refusal that the interface names. Faults are thrown. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const refuse = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/** Makes a `switch` over a union fail to compile when it misses a member. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

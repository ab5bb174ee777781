/** Messages by field; empty means valid. */
export type FieldFaults = Readonly<Record<string, string>>;

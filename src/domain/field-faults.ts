/** Messages by wire field name; empty means valid. */
export type FieldFaults = Readonly<Record<string, string>>;

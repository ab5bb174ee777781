import type { ColumnType } from 'kysely';

/** A column with a default. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** Read as its value, written as text. */
export type Json<T> = ColumnType<T, string, string>;

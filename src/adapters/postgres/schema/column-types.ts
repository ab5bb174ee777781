import type { ColumnType } from 'kysely';

export type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** Read as its value, written as text. */
export type Json<T> = ColumnType<T, string, string>;

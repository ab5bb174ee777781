import type { ColumnType } from 'kysely';

/** One that the database fills in when nothing is given. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** Read as what it stands for, written as text. */
export type Json<T> = ColumnType<T, string, string>;

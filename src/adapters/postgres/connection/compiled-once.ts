import { type CompiledQuery, type Expression, type RawBuilder, sql } from 'kysely';
import type { Db } from '../schema/database-schema.ts';

/** Values of a statement as its builder sees them: it can pass them on, but not look at them. */
export type Placeholders<Values> = {
  readonly [Name in keyof Values]:
    | RawBuilder<Exclude<Values[Name], undefined>>
    | Extract<Values[Name], undefined>;
};

type ValueOf<One> = One extends Expression<infer Value> ? Value : One;
type ValuesOf<Given> = { readonly [Name in keyof Given]: ValueOf<Given[Name]> };

type Built<Row> = { compile(db: Db): CompiledQuery<Row> };

/**
 * A statement that is built and compiled once and then run with other values: building takes longer than all else that
 * this process does for a statement. A value that is undefined is so for `build` too, and has a text of its own.
 */
export function compiledOnce<Given extends Readonly<Record<string, Expression<unknown> | undefined>>, Row>(
  build: (db: Db, placeholders: Given) => Built<Row>,
): (db: Db, values: ValuesOf<Given>) => CompiledStatement<Row> {
  const texts = new Map<string, CompiledQuery<Row>>();
  return (db, values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    const names = given.map(([name]) => name);
    const key = names.join();
    const text = texts.get(key) ?? build(db, placeholdersNamed(names)).compile(db);
    texts.set(key, text);
    const byName = new Map(given);
    const parameters = text.parameters.map((one) =>
      one instanceof Placeholder ? byName.get(one.name) : one,
    );
    return new CompiledStatement(db, { ...text, parameters });
  };
}

/** Stands for a value in a compiled statement. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const placeholdersNamed = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, sql.val(new Placeholder(name))])) as never;

/** Runs like a builder of Kysely's that reads rows. */
class CompiledStatement<Row> {
  readonly #db: Db;
  readonly #query: CompiledQuery<Row>;

  constructor(db: Db, query: CompiledQuery<Row>) {
    this.#db = db;
    this.#query = query;
  }

  async execute(): Promise<Row[]> {
    return (await this.#db.executeQuery(this.#query)).rows;
  }

  async executeTakeFirst(): Promise<Row | undefined> {
    return (await this.execute())[0];
  }

  async executeTakeFirstOrThrow(): Promise<Row> {
    const row = await this.executeTakeFirst();
    if (row === undefined) throw new Error('the statement returned no row');
    return row;
  }

  $call<T>(use: (statement: this) => T): T {
    return use(this);
  }
}

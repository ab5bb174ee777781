import type pg from 'pg';

/** What is asked of a database through a pool, from now on; it may be emptied. */
export function statementsOf(pool: pg.Pool): string[] {
  const statements: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const noted = (...given: unknown[]): unknown => {
      const [first] = given;
      statements.push(
        typeof first === 'string' ? first : String((first as { text?: string } | undefined)?.text),
      );
      return query(...given);
    };
    Object.assign(client, { query: noted });
  });
  return statements;
}

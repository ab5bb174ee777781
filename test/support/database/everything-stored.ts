import pg from 'pg';

/** Everything in every table of the schema, as text. */
export async function everythingIn(url: string): Promise<string> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    const tables = await database.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await database.query<{ row: string }>(
        `select to_jsonb(x)::text as row from ${name} x`,
      );
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await database.end();
  }
}

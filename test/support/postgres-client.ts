interface Client {
  connect(): Promise<void>;
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, string>[] }>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): void;
}

/** A session of a test's own with a PostgreSQL. It has no types of its own here. */
export async function connectTo(url: string): Promise<Client> {
  const name = 'pg';
  const driver: { default: { Client: new (options: object) => Client } } = await import(name);
  const client = new driver.default.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** The rows of one statement in a session of its own. */
export async function askPostgres(url: string, text: string, values?: unknown[]): Promise<Record<string, string>[]> {
  const client = await connectTo(url);
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

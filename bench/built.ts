type Core = typeof import('../src/index.ts');
type NodeAdapter = typeof import('../adapters/node.ts');
type SqliteAdapter = typeof import('../adapters/sqlite.ts');

/** The built package, as its users get it; the types are those of the sources, which exist before a build. */
export async function loadBuilt(): Promise<Pick<Core, 'createGateway'> & Pick<NodeAdapter, 'toNodeHandler'>> {
  const core: Core = await import(new URL('../dist/index.js', import.meta.url).href);
  const node: NodeAdapter = await import(new URL('../dist/node.js', import.meta.url).href);
  return { createGateway: core.createGateway, toNodeHandler: node.toNodeHandler };
}

/** As `loadBuilt`, the store on SQLite. */
export async function loadBuiltSqlite(): Promise<SqliteAdapter['sqliteStore']> {
  const sqlite: SqliteAdapter = await import(new URL('../dist/sqlite.js', import.meta.url).href);
  return sqlite.sqliteStore;
}

/** Builds the package unless it is built of these very sources. @throws Error when that fails */
export async function ensureBuilt(): Promise<void> {
  const { ensureBuilt: ensure }: { ensureBuilt(options: { types: boolean }): void } = await import(
    new URL('../scripts/build.mjs', import.meta.url).href
  );
  ensure({ types: false });
}

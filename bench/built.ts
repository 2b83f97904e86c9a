type Core = typeof import('../src/index.ts');
type NodeAdapter = typeof import('../adapters/hosts/node.ts');
type OtelAdapter = typeof import('../adapters/otel/otel.ts');
type SqliteAdapter = typeof import('../adapters/sqlite/sqlite.ts');

export type Built = Pick<Core, 'createGateway' | 'textGuardrail'> & Pick<NodeAdapter, 'gatewayListener'>;

/** Loads the built package, as users get it. The types come from the sources, because they exist before a build. */
export async function loadBuilt(): Promise<Built> {
  const core: Core = await import(new URL('../dist/index.js', import.meta.url).href);
  const node: NodeAdapter = await import(new URL('../dist/node.js', import.meta.url).href);
  const { createGateway, textGuardrail } = core;
  return { createGateway, textGuardrail, gatewayListener: node.gatewayListener };
}

/** Loads the SQLite store of the built package. */
export async function loadBuiltSqlite(): Promise<SqliteAdapter['sqliteStore']> {
  const sqlite: SqliteAdapter = await import(new URL('../dist/sqlite.js', import.meta.url).href);
  return sqlite.sqliteStore;
}

/** Loads the telemetry of the built package. */
export async function loadBuiltOtel(): Promise<OtelAdapter['openTelemetry']> {
  const otel: OtelAdapter = await import(new URL('../dist/otel.js', import.meta.url).href);
  return otel.openTelemetry;
}

/** Builds the package unless the build is up to date. @throws Error when the build fails */
export async function ensureBuilt(): Promise<void> {
  const { ensureBuilt: ensure }: { ensureBuilt(options: { types: boolean }): void } = await import(
    new URL('../scripts/build.mjs', import.meta.url).href
  );
  ensure({ types: false });
}

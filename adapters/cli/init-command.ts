import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInProviders } from '../../src/index.ts';
import { CliError } from './config.ts';
import type { Terminal } from './terminal.ts';

const configFile = 'gateway.config.mjs';
const envFile = '.env';

const stores = {
  sqlite: {
    imports: "import { sqliteStore } from 'model-gateway/sqlite';\n",
    store: "sqliteStore('gateway.db')",
    packages: [],
    env: {},
  },
  postgres: {
    imports: "import KeyvPostgres from '@keyv/postgres';\n",
    store: 'new KeyvPostgres({ uri: process.env.DATABASE_URL })',
    packages: ['@keyv/postgres', 'pg'],
    env: { DATABASE_URL: 'postgres://user:password@127.0.0.1:5432/gateway' },
  },
  redis: {
    imports: "import KeyvRedis from '@keyv/redis';\n",
    store: 'new KeyvRedis(process.env.REDIS_URL)',
    packages: ['@keyv/redis'],
    env: { REDIS_URL: 'redis://127.0.0.1:6379' },
  },
} as const;

/**
 * Lets the user choose providers and a store, and writes a config file for them and a file of environment variables.
 * @throws CliError for an unknown answer, and where one of the files exists: nothing is overwritten
 */
export async function init(terminal: Terminal): Promise<void> {
  const { folder } = terminal;
  for (const name of [configFile, envFile])
    if (existsSync(join(folder, name))) throw new CliError(`${join(folder, name)} exists already; nothing was written`);
  const slugs = providersIn(
    await terminal.ask('Providers, separated by commas, such as openai, groq (empty: only the built-in sandbox): '),
  );
  const store = storeOf(
    await terminal.ask('Where to keep budgets and keys: sqlite, postgres or redis (empty: sqlite): '),
  );
  const { imports, store: opened, packages, env } = stores[store];
  const providers = slugs.map((slug) => ({ slug, variable: variableOf(slug) }));
  const lines = [
    `${imports}
/** @type {import('model-gateway').GatewayOptions} */
export default {
  providers: {
    sandbox: {}, // responds without a provider`,
    ...providers.map(({ slug, variable }) => `    ${quoted(slug)}: { apiKey: process.env.${variable} || undefined },`),
    `  },
  store: ${opened},
  secrets: { current: process.env.GATEWAY_SECRET },
  apiKeys: [{ key: process.env.GATEWAY_API_KEY, permissions: ['inference', 'management'] }],
};
`,
  ];
  const variables: [string, string][] = [
    ['GATEWAY_API_KEY', `sk-gw-${randomBytes(24).toString('hex')}`],
    ['GATEWAY_SECRET', randomBytes(32).toString('base64')],
    ...providers.map(({ variable }): [string, string] => [variable, '']),
    ...Object.entries(env),
  ];
  write(join(folder, configFile), lines.join('\n'), 0o644);
  // The file contains secrets: no other user of this machine may read it.
  write(join(folder, envFile), variables.map(([name, value]) => `${name}=${value}\n`).join(''), 0o600);
  const missing = providers.map(({ variable }) => variable).join(', ');
  terminal.print(
    [
      `Wrote ${configFile} and ${envFile}. Keep ${envFile} out of version control.`,
      ...(packages.length > 0 ? [`Install: npm install ${packages.join(' ')}`] : []),
      ...(missing === '' ? [] : [`Fill in: ${missing} in ${envFile}`]),
      `Start:   npx model-gateway serve --config ${configFile}`,
      '',
    ].join('\n'),
  );
}

function providersIn(answer: string): string[] {
  const slugs = answer.split(',').map((slug) => slug.trim().toLowerCase());
  const known = new Set(builtInProviders.map(({ slug }) => slug));
  const named = [...new Set(slugs)].filter((slug) => slug !== '' && slug !== 'sandbox');
  for (const slug of named)
    if (!known.has(slug))
      throw new CliError(`No provider ${JSON.stringify(slug)} is built in with its address; nothing was written`);
  return named;
}

function storeOf(answer: string): keyof typeof stores {
  const name = answer.trim().toLowerCase() || 'sqlite';
  if (Object.hasOwn(stores, name)) return name as keyof typeof stores;
  throw new CliError(`Expected sqlite, postgres or redis, not ${JSON.stringify(name)}; nothing was written`);
}

/** The variable that customarily holds the provider's key. */
function variableOf(slug: string): string {
  const found = builtInProviders.find((provider) => provider.slug === slug);
  return found?.env[0] ?? `${slug.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_API_KEY`;
}

function quoted(slug: string): string {
  return /^[a-z]\w*$/.test(slug) ? slug : `'${slug}'`;
}

function write(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtInProviders, type GatewayOptions } from '../../src/index.ts';

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A mistake that the user can correct. The message tells how. */
export class CliError extends Error {}

/** A mistake in the command line itself: the exit code is 2. */
export class UsageError extends CliError {}

/**
 * The options without a config file: the sandbox, each built-in provider whose usual variables are set, and any
 * OpenAI-compatible server at LOCAL_BASE_URL as `local`. Has no keys for callers.
 */
export function defaultOptions(env: Env): GatewayOptions & { providers: object } {
  const providers: NonNullable<GatewayOptions['providers']> = { sandbox: {} };
  for (const provider of builtInProviders) {
    const settings = settingsIn(env, provider);
    if (settings !== null) providers[provider.slug] = settings;
  }
  const local = env.LOCAL_BASE_URL?.trim();
  if (local) providers.local = { baseUrl: local, apiKey: env.LOCAL_API_KEY?.trim() || undefined };
  return { providers };
}

/** @returns null: a part of the credential that the provider needs is in no variable, or all of them are optional */
function settingsIn(
  env: Env,
  { env: names, credentialShape }: (typeof builtInProviders)[number],
): { apiKey?: string; credential?: Record<string, string> } | null {
  // A variable of blanks alone is one that nobody filled in.
  const valueIn = (variables: readonly string[]) => variables.map((name) => env[name]?.trim()).find(Boolean);
  const apiKey = valueIn(names);
  if (credentialShape === undefined) return apiKey === undefined ? null : { apiKey };
  const { parts, oneOf } = credentialShape;
  const found: Record<string, string> = {};
  for (const [name, part] of Object.entries(parts)) {
    const value = name === 'apiKey' ? apiKey : valueIn(part.env ?? []);
    if (value !== undefined) found[name] = value;
    else if (part.isOptional !== true) return null;
  }
  const isComplete = oneOf ? oneOf.some((set) => set.every((name) => name in found)) : Object.keys(found).length > 0;
  if (!isComplete) return null;
  const { apiKey: _, ...credential } = found;
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(Object.keys(credential).length === 0 ? {} : { credential }),
  };
}

/**
 * Loads the default export of a config file: .js, .mjs, or .ts if the runtime strips types.
 * @throws CliError
 */
export async function loadConfig(path: string): Promise<GatewayOptions> {
  const file = resolve(path);
  if (!existsSync(file)) throw new CliError(`There is no config file ${file}`);
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new CliError(`The config file ${file} could not be loaded: ${reasonOf(error)}`);
  }
  if (typeof module.default !== 'object' || module.default === null) {
    throw new CliError(`The config file ${file} needs a default export: export default { providers: { … } }`);
  }
  return module.default;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return 'it must end in .js, .mjs or .ts; for .ts, Node 22.18 or newer is needed';
  }
  // Some loaders append a part of the file.
  return error.message.split('\n', 1)[0] ?? '';
}

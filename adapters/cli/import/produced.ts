import { Source, sourceOf, type Written } from '../config-source.ts';
import type { Mapping } from './mapping.ts';
import type { Report } from './report.ts';
import { required, type Variables } from './variables.ts';

/** The input of an importer. */
export interface ImportInput {
  file: Mapping;
  /** The path of the file. */
  path: string;
  /** Reads another file of the same kind. */
  read(path: string): Promise<Mapping>;
  /** Variables that are set already. */
  taken: ReadonlyMap<string, string>;
  /** Names of variables that no literal may take. */
  reserved: ReadonlySet<string>;
  /** Names of models that the user has given. */
  models: readonly string[];
}

/** The result of an import. */
export interface Imported {
  /** Lines before the options. */
  imports: readonly string[];
  /** The options for `createGateway`. */
  options: Record<string, Written>;
  /** Packages to install. */
  packages: readonly string[];
  report: Report;
  variables: Variables;
  /** Options for `serve`, such as `--port 4000`. */
  serve?: string;
}

/** A part of the config that needs imports or packages. */
export interface Part {
  source: Written;
  imports: readonly string[];
  packages: readonly string[];
}

/** The text of the config file. */
export function configText({ imports, options }: Imported): string {
  const lines = [...new Set(imports)];
  const isImport = (line: string) => line.startsWith('import ');
  const head = [...lines.filter(isImport).toSorted(byModule), ...lines.filter((line) => !isImport(line))];
  return `${head.map((line) => `${line}\n`).join('')}
/** @type {import('model-gateway').GatewayOptions} */
export default ${sourceOf(options)};
`;
}

/** Compares two imports by the names of their modules, those of Node first. */
function byModule(one: string, other: string): number {
  const [a, b] = [one, other].map((line) => line.slice(line.lastIndexOf(' from ')).replace("'node:", "' "));
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

export const sqlite: Part = {
  source: new Source("sqliteStore('gateway.db')"),
  imports: ["import { sqliteStore } from 'model-gateway/sqlite';"],
  packages: [],
};

export function postgres(url: Source): Part {
  return {
    source: new Source(`new KeyvPostgres({ uri: ${required(url).text} })`),
    imports: ["import KeyvPostgres from '@keyv/postgres';"],
    packages: ['@keyv/postgres', 'pg'],
  };
}

export function redis(url: Source): Part {
  return {
    source: new Source(`new KeyvRedis(${required(url).text})`),
    imports: ["import KeyvRedis from '@keyv/redis';"],
    packages: ['@keyv/redis'],
  };
}

/** Spans and metrics of OpenTelemetry. */
export const openTelemetry: Part = {
  source: new Source('openTelemetry(api)'),
  imports: ["import * as api from '@opentelemetry/api';", "import { openTelemetry } from 'model-gateway/otel';"],
  packages: ['@opentelemetry/api'],
};

/** A pattern of `textGuardrail`. */
export type Pattern = Readonly<Record<string, Written>>;

/** The option `guardrails`: one guardrail for each list of patterns. */
export function guardrailsPart(guardrails: readonly { id: string; patterns: readonly Pattern[] }[]): Part | null {
  if (guardrails.length === 0) return null;
  return {
    source: guardrails.map(({ id, patterns }) => new Source(`textGuardrail(${sourceOf({ id, patterns }, '    ')})`)),
    imports: ["import { textGuardrail } from 'model-gateway';"],
    packages: [],
  };
}

/** A service account of Google: the text of its file of keys, or the path of that file. */
export function serviceAccount(text: Source, more: Record<string, Written>): Part {
  return {
    source: new Source(`serviceAccount(${text.text}, ${sourceOf(more, '        ')})`),
    imports: [
      "import { readFileSync } from 'node:fs';",
      '',
      '/** The parts of a service account. @param {string | undefined} text  JSON, or the path of a file of JSON */',
      'const serviceAccount = (text, more) =>',
      "  text && { ...JSON.parse(text.trim().startsWith('{') ? text : readFileSync(text, 'utf8')), ...more };",
    ],
    packages: [],
  };
}

/** The parts that every config has: a store, a secret that seals keys, and a key for callers. */
export function usualParts(store: Part, key: Source): Record<string, Written> {
  return {
    store: store.source,
    secrets: { current: new Source('process.env.GATEWAY_SECRET') },
    apiKeys: [{ key: required(key), permissions: ['inference', 'management'] }],
  };
}

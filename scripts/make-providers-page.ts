// Makes docs/providers.md from the providers that are built in: `node scripts/make-providers-page.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from '../src/dialects/index.ts';
import { builtInProviders } from '../src/providers/index.ts';
import type { Provider } from '../src/providers/provider.ts';
import { providersWithoutAddress } from '../src/providers/without-address.ts';

const begin = '<!-- made by scripts/make-providers-page.ts from here -->';
const end = '<!-- to here -->';

/** What is worth knowing of a provider, by the name of the quirk; null: nothing. */
const quirkTexts: Record<string, (value: unknown) => string | null> = {
  dropParams: (value) => `does not get ${(value as readonly string[]).map(code).join(', ')}`,
  maxTokensField: (value) => `takes ${code(value)} for the largest output`,
  seedField: (value) => `takes ${code(value)} for the seed`,
  reasoningField: (value) => `reads earlier reasoning in ${code(value)}`,
  reasoningStyle: (value) => `is asked for reasoning by ${code(value)}`,
  // Of interest to nobody who sends back what came.
  reasoningFormat: () => null,
  jsonSchema: (value) => (value === false ? 'gets schemas as an instruction' : null),
  cacheControl: (value) => `takes \`cache_control\` (${(value as readonly string[]).map(code).join(', ')})`,
  assistantFields: (value) => `takes ${(value as readonly string[]).map(code).join(', ')} back`,
  reasoningBeside: (value) => (value === false ? null : 'reasoning is not limited by the largest output'),
  generatesOn: (value) =>
    value === true ? 'goes on with a stream that the client has left, and charges for it' : null,
  finishesWithoutReason: (value) => (value === true ? 'says no reason why a response ends' : null),
  streamOptions: (value) => (value === false ? 'is not asked for the usage of streams' : null),
  alwaysSearches: (value) => (value === true ? 'searches the web for every response' : null),
  lowDetail: (value) => (value === true ? 'takes images in low detail' : null),
  developerRole: (value) => (value === true ? 'takes the role `developer`' : null),
  // Their pages tell.
  embeddings: () => null,
  images: () => null,
  rerank: () => null,
  speech: () => null,
  transcriptions: () => null,
  minMaxTokens: (value) => `refuses a largest output below ${value} tokens, which is raised to that`,
};

/** The page with its tables made anew; what stands around them is kept. */
export function providersPage(page: string, providers: readonly Provider[] = builtInProviders): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/providers.md needs the lines ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${tables(providers)}\n\n${page.slice(to)}`;
}

function tables(providers: readonly Provider[]): string {
  const sorted = [...providers].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return [
    `${sorted.filter(({ isSandbox }) => isSandbox !== true).length} providers are built in with their addresses, and the sandbox.`,
    '',
    '| Slug | Name | Environment variable | Dialects | Needs | BYOK | Worth knowing |',
    '|---|---|---|---|---|---|---|',
    ...sorted.map(rowOf),
    '',
    '### Without an address',
    '',
    ...wrapped(
      `Of ${providersWithoutAddress.length} further providers, no address is known that speaks one of these dialects. They are used once you set \`baseUrl\`; workspaces' own credentials are sent there with \`byok: true\`.`,
    ),
    '',
    '| Slug | Name | Environment variable | Serves | Needs |',
    '|---|---|---|---|---|',
    ...providersWithoutAddress.map(({ slug, name, env, serves }) =>
      rowWith([code(slug), name, env.map(code).join(', '), serves ?? 'chat', '`baseUrl`, `apiKey`']),
    ),
  ].join('\n');
}

/** Lines of at most 120 characters. */
function wrapped(text: string): string[] {
  return text.match(/.{1,119}(?: |$)/g)?.map((line) => line.trimEnd()) ?? [];
}

function rowOf(provider: Provider): string {
  const { slug, name, env } = provider;
  return rowWith([
    code(slug),
    name,
    env.map(code).join(', '),
    dialectsOf(provider).map(code).join(', '),
    needs(provider),
    provider.isSandbox ? 'no' : 'yes',
    remarks(provider),
  ]);
}

function rowWith(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
}

/** The usual one first. Without those that this gateway does not speak. */
function dialectsOf({ dialect, also = {} }: Provider): string[] {
  return [dialect.name, ...Object.keys(also).filter((name) => Object.hasOwn(dialects, name))];
}

function needs({ credentialShape, createTransport }: Provider): string {
  if (createTransport) return 'nothing';
  const parts = Object.entries(credentialShape?.parts ?? { apiKey: {} });
  return parts
    .map(([name, { isOptional, env = [] }]) => {
      const remarks = [...(isOptional ? ['optional'] : []), ...env.map(code)].join(', ');
      return code(name) + (remarks === '' ? '' : ` (${remarks})`);
    })
    .join(', ');
}

function remarks({ quirks, dataPolicy, isSandbox, tasks }: Provider): string {
  const texts: string[] = isSandbox ? ['no model writes its responses'] : [];
  if (tasks !== undefined) texts.push(`serves ${tasks.join(' and ')} alone`);
  for (const [name, value] of Object.entries(quirks)) {
    const text = Object.hasOwn(quirkTexts, name) ? quirkTexts[name] : null;
    const said = text ? text(value) : code(`${name}: ${JSON.stringify(value)}`);
    if (said !== null) texts.push(said);
  }
  if (dataPolicy.zeroRetention === true) texts.push('keeps nothing of a request');
  if (dataPolicy.trains === true) texts.push('may train on requests');
  return texts.join('; ');
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}

const file = fileURLToPath(import.meta.url);
if (process.argv[1] === file) {
  const path = join(file, '..', '..', 'docs', 'providers.md');
  writeFileSync(path, providersPage(readFileSync(path, 'utf8')));
}

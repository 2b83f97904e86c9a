import { builtInProviders } from '../../../../src/index.ts';
import { Source, variable, type Written } from '../../config-source.ts';
import { createAccounts, isBuiltIn, usualKey } from '../accounts.ts';
import { type ImportedModel, writtenModel } from '../models.ts';
import { type Imported, type Part, sqlite, usualParts } from '../produced.ts';
import { createReport, type Report } from '../report.ts';
import { createVariables } from '../variables.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import { readClient } from './files.ts';
import { type ClientText, type Found, type Scan, scan } from './scan.ts';

/** The providers of authors under other names. */
const own: Readonly<Record<string, string>> = {
  amazon: 'amazon-bedrock',
  google: 'google-ai-studio',
  mistralai: 'mistral',
  qwen: 'alibaba',
  'x-ai': 'xai',
};

/** Suffixes that mean the same here. */
const sameSuffixes = new Set(['nitro', 'floor', 'exacto', 'extended', 'thinking', 'online']);
/** Providers that need more than a key: they are set up where a client names them. */
const inParts = new Set(['amazon-bedrock', 'azure', 'cloudflare', 'google-vertex']);

/**
 * Imports a client of a hosted router: its models become those of the catalogue, each with a provider that has it.
 * @param path     a file or a folder of the client
 * @param models   further models that the client asks for
 * @param isAsked  true: the user says that it is such a client
 * @returns null: nothing there names the router
 */
export async function importClient(path: string, models: readonly string[], isAsked = false): Promise<Imported | null> {
  const { texts, leftOut } = readClient(path);
  const found = scan([...texts, ...namedModels(models)]);
  if (!found.isOfRouter && !isAsked) return null;
  const report = createReport();
  if (leftOut > 0)
    report.warning(
      'files',
      `that are larger than 1 MiB, or beyond 5,000, were left out: ${leftOut}`,
      'Name their models: --model.',
    );
  const catalogue = openCatalogue();
  try {
    return await configOf(found, report, catalogue);
  } finally {
    await catalogue.close();
  }
}

function namedModels(models: readonly string[]): ClientText[] {
  return models.length === 0 ? [] : [{ path: '--model', text: models.map((name) => `"${name}"`).join('\n') }];
}

async function configOf(found: Scan, report: Report, catalogue: Catalogue): Promise<Imported> {
  const variables = createVariables(() => null);
  const accounts = createAccounts();
  const preferred = preferredOf(found, report);
  const used = new Set<string>(preferred);
  const routed: ImportedModel[] = [];
  let needsSearch = found.search;
  for (const model of found.models) {
    report.model(model.value);
    const place = await placeOf(model, preferred, used, catalogue);
    if (place.kind === 'none') {
      report.problem(model.where, `asks for ${model.value}, ${place.why}`, place.advice);
      continue;
    }
    if (place.kind === 'provider') used.add(place.slug);
    if (place.kind === 'router') {
      routed.push(atRouter(model.value, accounts, variables.refer('OPENROUTER_API_KEY')));
      report.warning(
        model.where,
        `asks for ${model.value}, ${place.why}, so the hosted router is still asked for it`,
        'Give the model endpoints of your own in `models`, or ask for another.',
      );
    }
    if (/:online\b/.test(model.value)) needsSearch ??= model;
    report.imported(model.value);
  }
  const slugs = [...used].toSorted((a, b) => orderOf(a) - orderOf(b));
  for (const slug of slugs) accounts.slugOf(accountOf(slug, (name) => variables.refer(name)));
  reportPlaces(found, needsSearch, report);
  const search: Part[] = needsSearch ? [exa(variables.refer('EXA_API_KEY'))] : [];
  const parts = [sqlite, ...search];
  return {
    imports: parts.flatMap((part) => part.imports),
    packages: [],
    report,
    variables,
    options: {
      compat: 'openrouter',
      providers: accounts.options,
      models: routed.length > 0 ? routed.map(writtenModel) : undefined,
      searchEngines: search.length > 0 ? search.map(({ source }) => source) : undefined,
      ...usualParts(sqlite, variable('GATEWAY_API_KEY')),
    },
  };
}

/** The thing that serves a model. */
type Served =
  | { kind: 'provider'; slug: string }
  | { kind: 'gateway' }
  | { kind: 'router'; why: string }
  | { kind: 'none'; why: string; advice: string };

async function placeOf(
  { value }: Found,
  preferred: ReadonlySet<string>,
  used: ReadonlySet<string>,
  catalogue: Catalogue,
): Promise<Served> {
  const [base = '', ...suffixes] = value.split(':');
  const author = base.slice(0, base.indexOf('/')).replace(/^~/, '');
  if (author === 'openrouter') {
    if (/^openrouter\/(?:auto|pareto-code)$/.test(base)) return { kind: 'gateway' };
    return {
      kind: 'none',
      why: 'which is a router of the hosted service',
      advice: 'Ask for openrouter/auto, or for a model.',
    };
  }
  const other = suffixes.find((suffix) => !sameSuffixes.has(suffix));
  if (other !== undefined)
    return {
      kind: 'router',
      why: other === 'free' ? 'which costs nothing there alone' : 'a variant of the hosted service',
    };
  const own = ownProvider(author);
  if (base.startsWith('~'))
    return own === null
      ? { kind: 'router', why: 'of an author without a provider here' }
      : { kind: 'provider', slug: own };
  const serving = await catalogue.providersOf(base);
  const first =
    serving.find((slug) => preferred.has(slug)) ??
    serving.find((slug) => slug === own) ??
    serving.find((slug) => used.has(slug)) ??
    serving.find((slug) => !inParts.has(slug)) ??
    serving[0];
  if (first !== undefined) return { kind: 'provider', slug: first };
  // OpenAI's own names are those of the hosted router; other providers have names of their own.
  if (author === 'openai') return { kind: 'provider', slug: 'openai' };
  return { kind: 'router', why: 'which the catalogue does not have' };
}

function ownProvider(author: string): string | null {
  const slug = Object.hasOwn(own, author) ? (own[author] as string) : author;
  return isBuiltIn(slug) && slug !== 'sandbox' ? slug : null;
}

function orderOf(slug: string): number {
  return builtInProviders.findIndex((provider) => provider.slug === slug);
}

/** The providers of ours that the client prefers, by their slugs or their names. */
function preferredOf(found: Scan, report: Report): Set<string> {
  const preferred = new Set<string>();
  for (const { value, where } of found.providers) {
    const wanted = (value.split('/')[0] ?? '').toLowerCase();
    const provider = builtInProviders.find(
      ({ slug, name }) => slug === wanted || name.toLowerCase() === wanted || slug === wanted.replace(/\s+/g, '-'),
    );
    if (provider === undefined || provider.slug === 'sandbox')
      report.warning(where, `prefers ${value}, which is no provider here`, 'A preference for it has no effect.');
    else {
      preferred.add(provider.slug);
      if (provider.slug !== wanted)
        report.warning(where, `prefers ${value} by its name`, `Preferences name slugs here: ${provider.slug}.`);
    }
  }
  return preferred;
}

function atRouter(slug: string, accounts: ReturnType<typeof createAccounts>, apiKey: Source): ImportedModel {
  const provider = accounts.slugOf({
    like: null,
    wanted: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    apiKey,
  });
  const pricing = slug.endsWith(':free') ? { prompt: '0', completion: '0' } : undefined;
  return { slug, aliases: [], fallbacks: [], defaults: {}, endpoints: [{ provider, model: slug, pricing }] };
}

function accountOf(slug: string, refer: (name: string) => Source) {
  const provider = builtInProviders.find((one) => one.slug === slug);
  const needed = provider?.credentialShape;
  const env = usualKey(slug) ?? `${slug.toUpperCase().replace(/\W+/g, '_')}_API_KEY`;
  if (needed === undefined) return { like: slug, apiKey: refer(env) };
  const names = new Set([
    ...Object.entries(needed.parts).flatMap(([name, part]) => (part.isOptional ? [] : [name])),
    ...(needed.oneOf?.[0] ?? []),
  ]);
  const credential: Record<string, Written> = {};
  for (const name of names) {
    const usual = needed.parts[name]?.env?.[0];
    if (name !== 'apiKey' && usual !== undefined) credential[name] = refer(usual);
  }
  return {
    like: slug,
    apiKey: names.has('apiKey') ? refer(env) : undefined,
    credential: Object.keys(credential).length > 0 ? credential : undefined,
  };
}

function exa(key: Source): Part {
  return {
    source: new Source(`exaSearch({ apiKey: ${key.text.replace('|| undefined', "|| ''")} })`),
    imports: ["import { exaSearch } from 'model-gateway/search';"],
    packages: [],
  };
}

function reportPlaces(found: Scan, search: Found | null, report: Report): void {
  for (const { where } of found.addresses)
    report.warning(
      where,
      'is the address of the hosted router',
      'Let the client call the gateway, http://127.0.0.1:8787/v1, with the key in GATEWAY_API_KEY.',
    );
  for (const { where } of found.presets)
    report.problem(where, 'is a preset of the account there', 'Make it a model with `defaults`, and ask for that.');
  if (search !== null)
    report.warning(
      search.where,
      'searches the web, for which Exa is set up',
      'Set EXA_API_KEY, or choose another engine: docs/plugins/web.md.',
    );
  if (found.models.length === 0)
    report.problem('models', 'were not found', 'Name those that your clients ask for: --model openai/gpt-4o');
}

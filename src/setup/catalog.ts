import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import type { Model } from '../call/model.ts';
import { type Catalog, createCatalog } from '../catalog/catalog.ts';
import { CatalogError, createDocument, type DocumentReader } from '../catalog/document.ts';
import type { LateModel } from '../catalog/late-model.ts';
import { type FileReader, readFromFile, readFromFunction, readFromUrl } from '../catalog/read-document.ts';
import { loadListPrices } from '../pricing/list-prices.ts';
import { withUnknownKinds } from '../pricing/unknown-kinds.ts';
import type { Provider } from '../providers/provider.ts';
import { validationIssues } from '../schema/chat/validate.ts';
import type { Logger } from '../telemetry/record.ts';
import type { Transport } from '../transport/transport.ts';
import { checkAliases } from './aliases.ts';
import { searchesWeb, servableLater, servableModels, unsupportedOf } from './models.ts';
import { type CatalogSettings, type CatalogSource, catalogDocument, type ModelSettings } from './options/model.ts';
import { type Configured, SettingsError } from './providers.ts';

export interface CatalogSetup {
  settings: CatalogSettings;
  /** Further names, and the slugs for which they stand. */
  aliases: Readonly<Record<string, string>>;
  /** The host app's models, and those of providers that are set up. */
  models: readonly (Model | LateModel)[];
  /** All known providers, by slug. */
  providers: ReadonlyMap<string, Configured>;
  /** Slugs of the providers that come with the package. */
  builtInProviders: ReadonlySet<string>;
  transport: () => Transport;
  headerBytes: number;
  clock: Clock;
  logger: Logger | null;
}

/**
 * Puts the catalogue together. Nothing is read until the first request.
 * @throws SettingsError for a source that cannot be read here
 */
export function configureCatalog(setup: CatalogSetup): Catalog {
  const { settings, aliases, models, providers, builtInProviders, clock, logger } = setup;
  checkAliases(aliases, models);
  const known = (slug: string) => providers.get(slug)?.provider ?? null;
  const reader = settings.source === undefined ? null : readerOf(settings.source, setup);
  return createCatalog({
    models,
    document:
      reader &&
      createDocument({
        ...settings,
        // What its models leave out is asked of the dialects as they are made.
        read: async (signal) => (await Promise.all([reader(signal), loadDialects(providers.values())]))[0],
        parse: (value) => parseDocument(value, known),
        clock,
        logger,
      }),
    aliases: new Map(Object.entries(aliases)),
    hasBareNames: settings.bareNames,
    loadBuiltIn: settings.builtInModels ? () => loadSnapshot(known) : null,
    loadPrices: settings.builtInPrices ? loadListPrices : null,
    providers: new Map(
      [...providers].map(([slug, { provider }]) => [
        slug,
        {
          dataPolicy: provider.dataPolicy,
          isOwn: !builtInProviders.has(slug),
          like: provider.like,
          searchesWeb: (model) => searchesWeb(provider, model),
          tasks: provider.tasks,
          unsupportedParameters: (model) => unsupportedOf(provider, model),
          load: () => provider.dialect.load?.(),
        },
      ]),
    ),
    clock,
    logger,
  });
}

async function loadDialects(providers: Iterable<Configured>): Promise<void> {
  await Promise.all(Array.from(providers, ({ provider }) => provider.dialect.load?.()));
}

/** @throws CatalogError naming every mistake */
function parseDocument(value: unknown, known: (slug: string) => Provider | null): readonly Model[] {
  const parsed = catalogDocument().safeParse(value);
  if (!parsed.success) throw new CatalogError(validationIssues(parsed.error));
  try {
    return servableModels(parsed.data.models, known);
  } catch (error) {
    if (error instanceof SettingsError) throw new CatalogError([{ path: error.path, message: error.message }]);
    throw error;
  }
}

/** Loads the built-in models at the first need: a gateway that serves no request does not need them. */
async function loadSnapshot(known: (slug: string) => Provider | null): Promise<readonly LateModel[]> {
  const { snapshot } = await import('../catalog/snapshot.ts');
  return servableLater(JSON.parse(snapshot) as ModelSettings[], known).map((model) => ({
    ...model,
    make: lazily(() => withListedPrices(model.make())),
  }));
}

/** In the sources of the built-in models, images of the prompt cost as text for all models that take images. */
function withListedPrices(model: Model): Model {
  const takesImages = model.inputModalities?.includes('image') === true;
  const endpoints = model.endpoints.map((endpoint) =>
    endpoint.pricing ? { ...endpoint, pricing: withUnknownKinds(endpoint.pricing, takesImages) } : endpoint,
  );
  return { ...model, endpoints };
}

function readerOf(source: CatalogSource, setup: CatalogSetup): DocumentReader {
  if (typeof source === 'function') return readFromFunction(source);
  const limits = { maxBytes: setup.settings.maxBytes, headerBytes: setup.headerBytes };
  // A drive letter is no scheme.
  if (typeof source === 'string' && !/^[a-z][a-z0-9+.-]+:/i.test(source))
    return readFromFile(fileReader(source), limits);
  const url = urlOf(source);
  if (url.protocol === 'file:') return readFromFile(fileReader(url), limits);
  return readFromUrl(url.href, setup.transport, limits);
}

function urlOf(source: string | URL): URL {
  const url = URL.canParse(source) ? new URL(source) : null;
  if (url === null || !/^(?:https?|file):$/.test(url.protocol))
    throw new SettingsError('catalog.source', 'expected an http, https or file URL, a path or a function');
  if (url.username !== '' || url.password !== '')
    throw new SettingsError('catalog.source', 'expected a URL without credentials; a function may send some');
  return url;
}

/** Reads files with the modules of Node, or of runtimes that have them. @throws SettingsError elsewhere */
function fileReader(file: string | URL): FileReader {
  const { process } = globalThis as { process?: NodeJS.Process };
  const fs = process?.getBuiltinModule?.('node:fs/promises');
  const path = process?.getBuiltinModule?.('node:path');
  if (!process || !fs || !path)
    throw new SettingsError('catalog.source', 'expected an http or https URL or a function: there are no files here');
  // Resolved now: the working directory may change before the file is read.
  const place = typeof file === 'string' ? path.resolve(process.cwd(), file) : file;
  return {
    async read(maxBytes, signal) {
      const handle = await fs.open(place);
      try {
        const buffer = new Uint8Array(Math.min((await handle.stat()).size + 1, maxBytes));
        let filled = 0;
        while (filled < buffer.length) {
          signal.throwIfAborted();
          const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return buffer.subarray(0, filled);
      } finally {
        await handle.close();
      }
    },
  };
}

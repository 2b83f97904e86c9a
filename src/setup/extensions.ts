import { unlessStopped } from '../base/async/within.ts';
import type { SearchEngine } from '../call/search.ts';
import type { ListedOperation, Operation } from '../operations/operation.ts';
import { plugins as builtIn } from '../plugins/index.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { isRoutingVariant, type PluginVariants } from '../routing/variant.ts';
import { builtInTools } from '../server-tools/index.ts';
import type { ServerTool } from '../server-tools/server-tool.ts';
import { SettingsError } from './providers.ts';

/**
 * The built-in plugins and the host app's. A plugin of the host app replaces the built-in one with the same id.
 * @throws SettingsError for an id or a variant that occurs twice, and for an invalid variant
 */
export function allPlugins(own: readonly Plugin[]): readonly Plugin[] {
  const ids = new Set<string>();
  const variants = new Set<string>();
  for (const [at, { id, variant }] of own.entries()) {
    if (ids.has(id)) throw new SettingsError(`plugins[${at}].id`, 'expected an id that no other plugin has');
    ids.add(id);
    if (variant === undefined) continue;
    if (!variantForm.test(variant) || isRoutingVariant(variant))
      throw new SettingsError(
        `plugins[${at}].variant`,
        'expected up to 32 letters, digits and "-" that are no suffix of routing, such as "online"',
      );
    if (variants.has(variant))
      throw new SettingsError(`plugins[${at}].variant`, 'expected a variant that no other plugin has');
    variants.add(variant);
  }
  return [...builtIn.filter(({ id }) => !ids.has(id)), ...own];
}

/** Suffixes of model slugs that ask for plugins: the host app's plugins go before those that are built in. */
export function pluginVariantsOf(plugins: readonly Plugin[]): PluginVariants {
  return new Map(plugins.flatMap(({ id, variant }) => (variant === undefined ? [] : [[variant, id]])));
}

/** As clients may write it behind a colon. */
const variantForm = /^[a-z][a-z\d-]{0,31}$/i;

/**
 * The built-in server tools and the host app's. A tool of the host app replaces the built-in one with the same name.
 * @param searches  true: the host app has set up a search engine
 * @param pageWork  the option `limits.pageWork`
 * @throws SettingsError for a name that occurs twice, or that no provider accepts
 */
export function allServerTools(own: readonly ServerTool[], searches: boolean, pageWork: number): readonly ServerTool[] {
  const names = new Set<string>();
  for (const [at, { name }] of own.entries()) {
    if (!/^[\w-]{1,48}$/.test(name))
      throw new SettingsError(`serverTools[${at}].name`, 'expected 1 to 48 letters, digits, "_" and "-"');
    if (names.has(name)) throw new SettingsError(`serverTools[${at}].name`, 'expected a name that no other tool has');
    names.add(name);
  }
  const usable = builtInTools(pageWork).filter(({ name }) => !names.has(name) && (searches || name !== 'web_search'));
  return [...usable, ...own];
}

/** @throws SettingsError for a name that occurs twice, or that no request can have */
export function searchEnginesOf(own: readonly SearchEngine[]): readonly SearchEngine[] {
  const names = new Set<string>(['native']);
  for (const [at, { name }] of own.entries()) {
    if (typeof name !== 'string' || name === '' || names.has(name))
      throw new SettingsError(
        `searchEngines[${at}].name`,
        'expected a name that no other engine has, and not "native"',
      );
    names.add(name);
  }
  return own;
}

/** The operations of the interface, and the host app's. @throws SettingsError for a method and path that occur twice */
export function allOperations(
  ofInterface: readonly ListedOperation[],
  own: readonly Operation[],
): readonly ListedOperation[] {
  const keyOf = ({ method, path }: ListedOperation) => `${method} ${path}`;
  const keys = new Set(ofInterface.map(keyOf));
  for (const [at, operation] of own.entries()) {
    if (!operation.path.startsWith('/'))
      throw new SettingsError(`operations[${at}].path`, 'expected a path below the mount, such as /my-operation');
    if (keys.has(keyOf(operation)))
      throw new SettingsError(`operations[${at}].path`, 'expected a method and path that no other operation has');
    keys.add(keyOf(operation));
  }
  return [...ofInterface, ...own.map(inTime)];
}

/** Wraps an operation of the host app: its caller does not wait longer than the time of the request. */
function inTime(operation: Operation): Operation {
  const run: Operation['run'] = (input) => unlessStopped(input.signal, () => operation.run(input));
  // The operation may be an object of a class, so a copy would lose its methods.
  return Object.create(operation, { run: { value: run } }) as Operation;
}

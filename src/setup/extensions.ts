import type { SearchEngine } from '../call/search.ts';
import type { Operation } from '../operations/operation.ts';
import { plugins as builtIn } from '../plugins/index.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { serverTools as builtInTools } from '../server-tools/index.ts';
import type { ServerTool } from '../server-tools/server-tool.ts';
import { SettingsError } from './providers.ts';

/**
 * The plugins that are built in, and the host app's, which take the place of those with the same id.
 * @throws SettingsError for an id that occurs twice, and for an `onError` that is none
 */
export function allPlugins(own: readonly Plugin[]): readonly Plugin[] {
  const ids = new Set<string>();
  for (const [at, { id, onError }] of own.entries()) {
    if (ids.has(id)) throw new SettingsError(`plugins[${at}].id`, 'expected an id that no other plugin has');
    ids.add(id);
    if (onError !== undefined && onError !== 'fail' && onError !== 'skip')
      throw new SettingsError(`plugins[${at}].onError`, 'expected "fail" or "skip"');
    if (onError === 'skip' && id === 'moderation')
      throw new SettingsError(`plugins[${at}].onError`, 'expected "fail": what could not be checked must not pass');
  }
  return [...builtIn.filter(({ id }) => !ids.has(id)), ...own];
}

/**
 * The server tools that are built in, and the host app's, which take the place of those with the same name.
 * @param searches  whether the host app has set up a search engine
 * @throws SettingsError for a name that occurs twice, or that no provider takes
 */
export function allServerTools(own: readonly ServerTool[], searches: boolean): readonly ServerTool[] {
  const names = new Set<string>();
  for (const [at, { name }] of own.entries()) {
    if (!/^[\w-]{1,48}$/.test(name))
      throw new SettingsError(`serverTools[${at}].name`, 'expected 1 to 48 letters, digits, "_" and "-"');
    if (names.has(name)) throw new SettingsError(`serverTools[${at}].name`, 'expected a name that no other tool has');
    names.add(name);
  }
  const usable = builtInTools.filter(({ name }) => !names.has(name) && (searches || name !== 'web_search'));
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
export function allOperations(ofInterface: readonly Operation[], own: readonly Operation[]): readonly Operation[] {
  const keyOf = ({ method, path }: Operation) => `${method} ${path}`;
  const keys = new Set(ofInterface.map(keyOf));
  for (const [at, operation] of own.entries()) {
    if (!operation.path.startsWith('/'))
      throw new SettingsError(`operations[${at}].path`, 'expected a path below the mount, such as /my-operation');
    if (keys.has(keyOf(operation)))
      throw new SettingsError(`operations[${at}].path`, 'expected a method and path that no other operation has');
    keys.add(keyOf(operation));
  }
  return [...ofInterface, ...own];
}

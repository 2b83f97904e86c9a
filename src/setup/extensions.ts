import type { Operation } from '../operations/operation.ts';
import { plugins as builtIn } from '../plugins/index.ts';
import type { Plugin } from '../plugins/plugin.ts';
import { SettingsError } from './providers.ts';

/** The plugins that are built in, and the host app's. @throws SettingsError for an id that occurs twice */
export function allPlugins(own: readonly Plugin[]): readonly Plugin[] {
  const ids = new Set(builtIn.map(({ id }) => id));
  for (const [at, { id }] of own.entries()) {
    if (ids.has(id)) throw new SettingsError(`plugins[${at}].id`, 'expected an id that no other plugin has');
    ids.add(id);
  }
  return [...builtIn, ...own];
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

import { type BodyCheck, type FoundIssue, issuesOf, type Schema } from '../schema.ts';
import { pluginIds } from './plugins.ts';

/** A plugin as far as its entry in a request can be checked. */
export interface CheckedPlugin {
  id: string;
  /** Checks the entry. Default: any object. */
  options?: () => Schema;
}

const contractIds: ReadonlySet<string> = new Set(pluginIds);
/** Stands in for an entry that the interface's own schema does not know. */
const placeholder = { id: pluginIds[0], enabled: false };

/** A request that names plugins. */
interface WithPlugins {
  plugins?: readonly unknown[] | null | undefined;
}

/**
 * The check of a chat request or of a Responses request, with the host app's plugins among those that `plugins` may name.
 * @param check  of the interface alone
 */
export function checkWithPlugins<Body extends WithPlugins>(
  check: () => BodyCheck<Body>,
  plugins: readonly CheckedPlugin[],
): () => BodyCheck<Body> {
  const own = new Map(plugins.filter(({ id, options }) => options || !contractIds.has(id)).map((one) => [one.id, one]));
  if (own.size === 0) return check;
  const safeParse: BodyCheck<Body>['safeParse'] = (value) => {
    const entries = entriesIn(value);
    const found = entries.flatMap((entry, at) => {
      const plugin = own.get(idOf(entry));
      return plugin ? [{ at, entry: entry as object, plugin }] : [];
    });
    if (found.length === 0) return check().safeParse(value);
    const known = entries.map((entry) => {
      const id = idOf(entry);
      return own.has(id) && !contractIds.has(id) ? placeholder : entry;
    });
    const checked = check().safeParse({ ...(value as object), plugins: known });
    if (!checked.success) return checked;
    const parsed: unknown[] = [...(checked.data.plugins ?? [])];
    for (const { at, entry, plugin } of found) {
      const options = plugin.options ? issuesOf(plugin.options(), entry) : { value: {} };
      if ('issues' in options)
        return { success: false, error: { issues: pathsBelow(options.issues, ['plugins', at]) } };
      parsed[at] = { ...withoutNullFields(entry), ...(options.value as object | undefined) };
    }
    return { success: true, data: { ...checked.data, plugins: parsed } };
  };
  return () => ({ safeParse });
}

function entriesIn(value: unknown): readonly unknown[] {
  const plugins = typeof value === 'object' && value !== null ? (value as { plugins?: unknown }).plugins : undefined;
  return Array.isArray(plugins) ? plugins : [];
}

/** '' for what has none. */
function idOf(entry: unknown): string {
  const id = typeof entry === 'object' && entry !== null ? (entry as { id?: unknown }).id : undefined;
  return typeof id === 'string' ? id : '';
}

/** A null that means something to the plugin is in what its schema made of the entry. */
function withoutNullFields(entry: object): object {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}

function pathsBelow(issues: readonly FoundIssue[], above: readonly PropertyKey[]): readonly FoundIssue[] {
  return issues.map((issue) => ({ ...issue, path: [...above, ...issue.path] }));
}

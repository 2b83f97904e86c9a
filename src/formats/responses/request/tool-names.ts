import { fingerprintOf } from '../../../base/text/fingerprint.ts';
import type { CallForm } from '../../../call/native.ts';

/** Names of functions that every provider takes. */
const validName = /^[a-zA-Z0-9_-]{1,64}$/;
const longest = 64;
/** The characters of an underscore and a number of 53 bits. */
const suffixChars = 12;

/**
 * Names the chat functions that stand for the tools of a Responses request. Each name is used once, and is the same in
 * every turn.
 */
export interface ToolNames {
  /** Keeps a name for the function that has it anyway. */
  reserve(name: string): void;
  /** Returns the chat name of a tool; makes one for a tool that was not there yet. */
  of(form: CallForm): string;
  /** true: a tool has a name already. */
  has(form: CallForm): boolean;
  /** Names a tool. @returns null: it has a name already */
  add(form: CallForm): string | null;
  /** The forms in which calls come back, by chat name; without those that come back as they are. */
  readonly forms: ReadonlyMap<string, CallForm>;
}

export function toolNames(): ToolNames {
  /**
   * The names without namespaces, and those with. For calls and choices that leave the namespace out, the first of any
   * namespace counts.
   */
  const plain = namesByKind();
  const anywhere = namesByKind();
  const inNamespaces = new Map<string, NamesByKind>();
  const reserved = new Set<string>();
  const used = new Set<string>();
  const forms = new Map<string, CallForm>();
  let further = 0;

  function take(form: CallForm): string {
    const { kind, name, namespace } = form;
    const joined = namespace === undefined ? name : namespace + (namespace.endsWith('_') ? '' : '__') + name;
    const isOwn = kind === 'function' && namespace === undefined;
    if (validName.test(joined) && !used.has(joined) && (isOwn || !reserved.has(joined))) return joined;
    const head = joined.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, longest - suffixChars);
    const named = `${head}_${fingerprintOf([kind, namespace ?? '', name]).toString(36)}`;
    if (!used.has(named) && !reserved.has(named)) return named;
    // Fingerprints can be forged. The counter never goes back, so that many such names cost no more than others.
    for (;;) {
      const counted = `${head}_${(further++).toString(36)}`;
      if (!used.has(counted) && !reserved.has(counted)) return counted;
    }
  }

  function namesIn(namespace: string | undefined): NamesByKind {
    if (namespace === undefined) return plain;
    const known = inNamespaces.get(namespace);
    if (known !== undefined) return known;
    const names = namesByKind();
    inNamespaces.set(namespace, names);
    return names;
  }

  function add(form: CallForm): string | null {
    const { kind, name, namespace } = form;
    const names = namesIn(namespace)[kind];
    if (names.has(name)) return null;
    const chatName = take(form);
    used.add(chatName);
    names.set(name, chatName);
    if (!anywhere[kind].has(name)) anywhere[kind].set(name, chatName);
    if (kind !== 'function' || namespace !== undefined || chatName !== name) forms.set(chatName, form);
    return chatName;
  }

  return {
    reserve(name) {
      if (validName.test(name)) reserved.add(name);
    },
    of(form) {
      const { kind, name, namespace } = form;
      const known =
        namesIn(namespace)[kind].get(name) ?? (namespace === undefined ? anywhere[kind].get(name) : undefined);
      return known ?? (add(form) as string);
    },
    has: ({ kind, name, namespace }) => namesIn(namespace)[kind].has(name),
    add,
    forms,
  };
}

/** Chat names by the kind and the name of the tool. */
type NamesByKind = Readonly<Record<CallForm['kind'], Map<string, string>>>;

function namesByKind(): NamesByKind {
  return { function: new Map(), custom: new Map(), local_shell: new Map(), tool_search: new Map() };
}

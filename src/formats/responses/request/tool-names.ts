import { fingerprintOf } from '../../../base/text/fingerprint.ts';
import type { CallForm } from '../../../call/native.ts';

/** Names of functions that every provider takes. */
const validName = /^[a-zA-Z0-9_-]{1,64}$/;
const longest = 64;
/** The characters of an underscore and a number of 53 bits. */
const suffixChars = 12;

/**
 * Names the chat functions that stand for the tools of a Responses request. Each name is used once. Who comes first
 * keeps a name that several would have: tools that are named in the order of the conversation have the same names in
 * every turn.
 */
export interface ToolNames {
  /** Keeps a name for the function that has it anyway. */
  reserve(name: string): void;
  /** Names a tool that the model is offered. */
  offer(form: CallForm): void;
  /** Returns the chat name of a tool that was called; makes one for a tool that is not offered. */
  of(form: CallForm): string;
  /** Returns the chat name of a tool that the model is offered; null: it is not. */
  offered(form: CallForm): string | null;
  /** Returns the chat names of the tools in a namespace that the model is offered. */
  offeredIn(namespace: unknown): readonly string[];
  /** The forms in which calls come back, by chat name; without those that come back as they are. */
  readonly forms: ReadonlyMap<string, CallForm>;
}

export function toolNames(): ToolNames {
  const plain = namesByKind();
  /** The first tool of any namespace that is offered: calls and choices may leave the namespace out. */
  const anywhere = namesByKind();
  const inNamespaces = new Map<string, NamesByKind>();
  const reserved = new Set<string>();
  const used = new Set<string>();
  const offered = new Set<string>();
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

  function nameOf(form: CallForm): string {
    const { kind, name, namespace } = form;
    const names = namesIn(namespace)[kind];
    const known = names.get(name);
    if (known !== undefined) return known;
    const chatName = take(form);
    used.add(chatName);
    names.set(name, chatName);
    if (kind !== 'function' || namespace !== undefined || chatName !== name) forms.set(chatName, form);
    return chatName;
  }

  return {
    reserve(name) {
      if (validName.test(name)) reserved.add(name);
    },
    offer(form) {
      const { kind, name } = form;
      const chatName = nameOf(form);
      offered.add(chatName);
      if (!anywhere[kind].has(name)) anywhere[kind].set(name, chatName);
    },
    of(form) {
      const { kind, name, namespace } = form;
      if (namespace !== undefined || plain[kind].has(name)) return nameOf(form);
      return anywhere[kind].get(name) ?? nameOf(form);
    },
    offered({ kind, name, namespace }) {
      const known = namesIn(namespace)[kind].get(name);
      if (known !== undefined && offered.has(known)) return known;
      return (namespace === undefined ? anywhere[kind].get(name) : undefined) ?? null;
    },
    offeredIn(namespace) {
      const names = inNamespaces.get(namespace as string);
      if (names === undefined) return [];
      return Object.values(names).flatMap((ofKind) => [...ofKind.values()].filter((name) => offered.has(name)));
    },
    forms,
  };
}

/** Chat names by the kind and the name of the tool. */
type NamesByKind = Readonly<Record<CallForm['kind'], Map<string, string>>>;

function namesByKind(): NamesByKind {
  return { function: new Map(), custom: new Map(), local_shell: new Map(), tool_search: new Map() };
}

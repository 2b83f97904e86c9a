import { tryParseJson } from '../../base/json.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { Findings } from './findings.ts';
import type { CompiledPattern, SplitPatterns } from './patterns.ts';
import { Scanner } from './scanner.ts';

/** Members that name things. */
const naming: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'item_id',
  'file_id',
  'format',
  'status',
  'finish_reason',
]);
/** Members with what nobody reads as text. */
const encoded: ReadonlySet<string> = new Set(['data', 'file_data', 'signature', 'encrypted_content']);

/** Whether a text says nothing: a name, or bytes. What has another form is looked at, whatever its member is called. */
function isSilent(text: string, key: string): boolean {
  if (naming.has(key)) return /^[\w.:/-]{0,128}$/.test(text);
  return text.startsWith('data:') || (encoded.has(key) && /^[\w+/=-]*$/.test(text));
}

/** Looks for patterns in complete texts, wherever a value has them. */
export class Texts {
  readonly #patterns: SplitPatterns;
  readonly #findings: Findings;
  /** Characters that were looked at. */
  chars = 0;

  constructor(patterns: SplitPatterns, findings: Findings) {
    this.#patterns = patterns;
    this.#findings = findings;
  }

  /** @returns the text, with what is to be redacted replaced */
  text(text: string): string {
    this.chars += text.length;
    const { flagging } = this.#patterns;
    if (flagging.length > 0) new Scanner(flagging, this.#note).end(text);
    return this.#redacted(text);
  }

  /** @returns the same value where nothing in it changes; else a copy */
  value<T>(value: T, key = ''): T {
    return this.#changed(value, key) as T;
  }

  /**
   * Arguments of a call: JSON stays JSON. A text in it is looked at as the function gets it, without escapes.
   */
  json(text: string): string {
    const parsed = tryParseJson(text);
    if (parsed === undefined || parsed === null || typeof parsed !== 'object') return this.text(text);
    const changed = this.#jsonValue(parsed);
    const written = changed === parsed ? text : JSON.stringify(changed);
    // What stands in no value: a key that comes twice, or a match over several of them.
    const plain = this.#redacted(written);
    if (plain === written) return written;
    const rewritten = JSON.stringify(changed);
    return this.#isClean(rewritten) ? rewritten : plain;
  }

  readonly #note = (pattern: CompiledPattern, isTooMany: boolean) => this.#findings.note(pattern, isTooMany);

  #redacted(text: string): string {
    const { acting } = this.#patterns;
    return acting.length === 0 ? text : new Scanner(acting, this.#note).end(text);
  }

  #isClean(text: string): boolean {
    let isClean = true;
    new Scanner(this.#patterns.acting, () => {
      isClean = false;
    }).end(text);
    return isClean;
  }

  #changed(value: unknown, key: string): unknown {
    if (typeof value === 'string') {
      if (value === '' || isSilent(value, key)) return value;
      return key === 'arguments' ? this.json(value) : this.text(value);
    }
    if (Array.isArray(value)) return this.#list(value, (one) => this.#changed(one, key));
    if (!isObject(value)) return value;
    return this.#members(value, (inner, name) =>
      // What a function is called by is no text.
      name === 'name' && (key === 'function' || 'call_id' in value) ? inner : this.#changed(inner, name),
    );
  }

  /** Every text in a JSON value says something, numbers and the names of members too. */
  #jsonValue(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const text = String(value);
      const left = this.text(text);
      return left === text ? value : left;
    }
    if (Array.isArray(value)) return this.#list(value, (one) => this.#jsonValue(one));
    if (!isObject(value)) return value;
    const changed = this.#members(value, (inner) => this.#jsonValue(inner));
    const names = Object.keys(changed);
    const left = names.map((name) => this.text(name));
    if (left.every((name, at) => name === names[at])) return changed;
    return Object.fromEntries(left.map((name, at) => [name, changed[names[at] as string]]));
  }

  #list(list: unknown[], change: (one: unknown) => unknown): unknown[] {
    let copy: unknown[] | null = null;
    for (const [at, one] of list.entries()) {
      const changed = change(one);
      if (changed === one) continue;
      copy ??= [...list];
      copy[at] = changed;
    }
    return copy ?? list;
  }

  #members(value: Loose, change: (inner: unknown, name: string) => unknown): Loose {
    let copy: Loose | null = null;
    for (const name of Object.keys(value)) {
      const changed = change(value[name], name);
      if (changed === value[name]) continue;
      copy ??= { ...value };
      copy[name] = changed;
    }
    return copy ?? value;
  }
}

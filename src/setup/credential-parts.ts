import type { Issue } from '../base/refusal.ts';
import { isOnOneLine, pastedKey, withoutBlanks } from '../base/text/pasted-key.ts';
import type { Credential, CredentialPart, CredentialShape } from '../providers/provider.ts';

/** The part that becomes the `secret` of a credential. */
const keyPart = 'apiKey';

/** The form of a part that becomes part of a host name or a path. A dot or a slash would name another host or path. */
const word = /^[A-Za-z0-9_-]{1,128}$/;

/** A credential, or the mistakes in its parts, with paths relative to the parts. */
export type PartsResult = { credential: Credential; secrets: readonly string[] } | { issues: readonly Issue[] };

/** Checks the parts of a credential. */
export function credentialOf(shape: CredentialShape, given: Readonly<Record<string, unknown>>): PartsResult {
  const parts = withoutAliases(shape, given);
  const issues: Issue[] = [];
  const others: Record<string, string> = {};
  const secrets: string[] = [];
  let secret = '';
  for (const name of Object.keys(parts)) {
    if (!Object.hasOwn(shape.parts, name))
      issues.push({ path: pathOf(name), message: `expected no such part, but ${namesOf(shape)}` });
  }
  for (const [name, part] of Object.entries(shape.parts)) {
    const value = Object.hasOwn(parts, name) ? asMeant(name, part, parts[name]) : undefined;
    if (value === undefined ? part.isOptional : isValid(part, value)) {
      if (typeof value !== 'string') continue;
      if (part.isSecret !== false) secrets.push(value);
      if (name === keyPart) secret = value;
      else others[name] = value;
    } else issues.push({ path: name, message: `expected ${part.expected}` });
  }
  const sets = shape.oneOf ?? [];
  if (
    issues.length === 0 &&
    sets.length > 0 &&
    !sets.some((set) => set.every((name) => Object.hasOwn(parts, name) && parts[name] !== undefined))
  )
    issues.push({ path: '', message: `expected ${sets.map((set) => set.join(' and ')).join(', or ')}` });
  if (issues.length > 0) return { issues };
  return { credential: Object.keys(others).length === 0 ? { secret } : { secret, parts: others }, secrets };
}

/** Renames parts to the names of the shape, which win over their aliases. */
function withoutAliases({ aliases }: CredentialShape, given: Readonly<Record<string, unknown>>) {
  if (aliases === undefined) return given;
  const parts: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const meant = Object.hasOwn(aliases, name) ? aliases[name] : name;
    if (typeof meant === 'string' && (meant === name || !Object.hasOwn(given, meant))) parts[meant] = value;
  }
  return parts;
}

/**
 * Reads the key that a workspace brings. For a provider whose credentials have parts, the key is a JSON object of them.
 * It may also be the key alone if no other part is required.
 */
export function credentialOfKey(shape: CredentialShape, key: string): PartsResult {
  if (!key.startsWith('{')) {
    const read = credentialOf(shape, { [keyPart]: key });
    if (!('issues' in read) || Object.hasOwn(shape.parts, keyPart)) return read;
  }
  const parts = objectOf(key);
  return parts === null
    ? { issues: [{ path: '', message: `expected a JSON object with ${namesOf(shape)}` }] }
    : credentialOf(shape, parts);
}

function isValid({ pattern, isSecret }: CredentialPart, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (pattern !== undefined) return pattern.test(value);
  return isSecret === false ? word.test(value) : isOnOneLine(value);
}

/** The value of a part without what was copied with it. A value of another form than its own may need its blanks. */
function asMeant(name: string, part: CredentialPart, value: unknown): unknown {
  if (typeof value !== 'string' || (part.pattern !== undefined && isValid(part, value))) return value;
  const { key } = pastedKey(value);
  // Only a key stands behind a header's name.
  const meant = name === keyPart || key.length === value.length ? key : unquoted(value);
  return isValid(part, meant) ? meant : value;
}

function unquoted(value: string): string {
  const bare = withoutBlanks(value);
  const inner = /^"(.*)"$|^'(.*)'$/s.exec(bare);
  return inner === null ? bare : withoutBlanks(inner[1] ?? inner[2] ?? '');
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // The error is dropped, because the text may be a secret.
    return null;
  }
}

/** Shows a name only if it has the form of one: a caller may have put a secret in its place. */
function pathOf(name: string): string {
  return /^[A-Za-z_$][\w$-]{0,31}$/.test(name) ? name : '';
}

function namesOf({ parts }: CredentialShape): string {
  return Object.entries(parts)
    .map(([name, { isOptional }]) => (isOptional ? `${name} (optional)` : name))
    .join(', ');
}

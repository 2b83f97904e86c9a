import type { ChatRequest } from '../../schema/chat/chat.ts';
import { gatewayFields } from './gateway-fields.ts';

/** Fields that are for the gateway alone. No dialect has to list that it carries these. */
const gatewayOnly: ReadonlySet<string> = new Set(['messages', ...gatewayFields]);

/** Returns the fields of a request that are set and that a dialect does not carry. null means "not set". */
export function leftOut(request: ChatRequest, carried: ReadonlySet<string>): string[] {
  const fields = request as Readonly<Record<string, unknown>>;
  return Object.keys(fields).filter(
    (name) => fields[name] !== null && fields[name] !== undefined && !gatewayOnly.has(name) && !carried.has(name),
  );
}

/** Collects the paths of fields that a request holds and a dialect leaves out, each once. */
export class Dropped {
  readonly #paths = new Set<string>();

  add(path: string): void {
    this.#paths.add(path);
  }

  /** Adds each of these fields that is set. @param place  such as `messages[]` */
  addSet(place: string, holder: object, names: readonly string[]): void {
    for (const name of names) if (isSet(holder, name)) this.add(`${place}.${name}`);
  }

  /** Adds each field that is set and not carried. */
  addOthers(place: string, holder: object, carried: ReadonlySet<string>): void {
    for (const name in holder) if (!carried.has(name) && isSet(holder, name)) this.add(`${place}.${name}`);
  }

  list(): string[] {
    return [...this.#paths];
  }
}

function isSet(holder: object, name: string): boolean {
  const value = (holder as Readonly<Record<string, unknown>>)[name];
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
}

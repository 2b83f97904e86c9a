import { type JsonExtent, jsonExtent } from '../../base/json-extent.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ChunkToolCall } from '../../schema/chat/chunk.ts';
import { argumentsText, type ToolCallIds } from '../shared/values.ts';
import { addedToCall, addedToFunction, functionIn, idIn } from './fields.ts';

/**
 * The tool calls of one choice of a stream. Servers disagree on how a fragment says which call it is of: by its index,
 * its id, both or neither. Clients go by the index alone, and take id, type and name from the first fragment.
 */
export interface StreamedCalls {
  /** Reads the fragments of one delta. @returns those that say something new, each with the index of its call */
  read(fragments: readonly unknown[]): ChunkToolCall[];
  /** The end of the response. @returns what is still missing of the calls, where their arguments never came */
  complete(isWhole: boolean): ChunkToolCall[];
  /** The number of calls. */
  readonly size: number;
  /** The arguments of a call have begun, and are not complete. */
  isMidCall(): boolean;
  /** A call names no function. */
  hasNameless(): boolean;
}

interface Call {
  /** Ours: calls are counted as they begin. */
  index: number;
  /** The provider's own id; null: it gave none with the first fragment. */
  given: string | null;
  /** The one that clients have. */
  id: string;
  name: string;
  /** Clients have its first fragment. */
  isSent: boolean;
  /** The known parts of it, until clients have its first fragment. */
  held: { text: string; called: Loose; added: Loose };
  extent: JsonExtent;
  /** All its arguments; '' where they are long. */
  text: string;
  /** Its arguments are `{}` so far, which some servers write before the real ones: clients get that once it is all. */
  isEmptyObject: boolean;
}

const emptyObject = '{}';

/** Longer arguments are not known when they come again, in UTF-16 units. */
const longestRepeated = 50_000;

/** A fragment as it came. */
interface Fragment {
  given: string | null;
  /** The place that the server gives the call; null: it gives none. */
  place: number | null;
  name: string | null;
  args: string;
}

export function streamedCalls(ids: ToolCallIds): StreamedCalls {
  const calls: Call[] = [];
  const byPlace = new Map<number, Call>();
  const byId = new Map<string, Call>();
  /** The calls whose arguments are `{}` so far. */
  const empty = new Set<Call>();
  let latest: Call | undefined;

  function begin({ given, place }: Fragment): Call {
    const index = calls.length;
    const own = given === null || byId.has(given) ? null : ids.take(given);
    const call: Call = {
      index,
      given,
      id: own ?? ids.make(index),
      name: '',
      isSent: false,
      held: { text: '', called: {}, added: {} },
      extent: jsonExtent(),
      text: '',
      isEmptyObject: false,
    };
    calls.push(call);
    if (place !== null) byPlace.set(place, call);
    if (given !== null && !byId.has(given)) byId.set(given, call);
    return call;
  }

  /** @param inList  calls that earlier fragments of the same delta are of */
  function callOf(fragment: Fragment, inList: ReadonlySet<Call>): Call | null {
    const { given, place, name, args } = fragment;
    const there = place === null ? latest : byPlace.get(place);
    const isSecond = there !== undefined && inList.has(there) && name !== null;
    const known = given === null ? undefined : there?.given === given ? there : byId.get(given);
    if (known !== undefined) {
      // One id for several calls: the place tells them apart.
      if (known !== there && place !== null && name !== null && there === undefined) return begin(fragment);
      return repeats(known, fragment) ? known : begin(fragment);
    }
    if (there === undefined) return given === null && name === null && args === '' ? null : begin(fragment);
    if (given !== null && there.given !== null)
      return !isSecond && goesOnUnderNewId(there, fragment) ? there : begin(fragment);
    return isSecond || beginsAnother(there, fragment) ? begin(fragment) : there;
  }

  function read(fragments: readonly unknown[]): ChunkToolCall[] {
    const out: ChunkToolCall[] = [];
    const inList = new Set<Call>();
    for (const [at, raw] of fragments.entries()) {
      if (!isObject(raw)) continue;
      const fragment = fragmentOf(raw, at, fragments.length);
      const call = callOf(fragment, inList);
      if (call === null) continue;
      inList.add(call);
      latest = call;
      if (fragment.place !== null) byPlace.set(fragment.place, call);
      const said = add(call, fragment, raw);
      if (call.isEmptyObject) empty.add(call);
      else if (empty.size > 0) {
        empty.delete(call);
        // The arguments of a call show that none come for those before it.
        out.push(...filled(call.index));
      }
      if (said !== null) out.push(said);
    }
    return out;
  }

  /** Gives `{}` to calls whose arguments that is. @param before  the index of the first call that may go on */
  function filled(before: number): ChunkToolCall[] {
    const out: ChunkToolCall[] = [];
    for (const call of empty) {
      // In their order: to look at all of them for each fragment would cost the product of both.
      if (!call.isSent || call.index >= before) break;
      empty.delete(call);
      call.isEmptyObject = false;
      call.extent.add(emptyObject);
      out.push({ index: call.index, function: { arguments: emptyObject } });
    }
    return out;
  }

  function complete(isWhole: boolean): ChunkToolCall[] {
    const rest = filled(calls.length);
    for (const call of calls) {
      const isBare = !call.extent.hasBegun;
      if (isBare && call.isSent && isWhole) {
        call.extent.add(emptyObject);
        rest.push({ index: call.index, function: { arguments: emptyObject } });
      }
    }
    return rest;
  }

  return {
    read,
    complete,
    get size() {
      return calls.length;
    },
    isMidCall: () => calls.some(({ extent }) => extent.hasBegun && !extent.isWhole()),
    hasNameless: () => calls.some(({ isSent }) => !isSent),
  };
}

function fragmentOf(raw: Loose, at: number, size: number): Fragment {
  const { name, arguments: args } = functionIn(raw);
  const given = idIn(raw);
  const digits = typeof raw.index === 'string' && /^\d{1,9}$/.test(raw.index) ? Number(raw.index) : raw.index;
  return {
    given,
    // In a list without indexes, each entry is a call of its own.
    place: isIndex(digits) ? digits : given === null && size > 1 ? at : null,
    name: typeof name === 'string' && name !== '' ? name : null,
    args: argumentsText(args),
  };
}

/** Tells whether a fragment with the id of a call is of that call. A fragment that says all of another call is not. */
function repeats(call: Call, { name, args }: Fragment): boolean {
  if (name === null || call.name === '') return true;
  if (name === call.name) return !call.extent.isWhole() || !beginsObject(args) || args === call.text;
  // More of the name, or the name of another function.
  return !hasArguments(call);
}

/** Some servers give each fragment an id of its own. */
function goesOnUnderNewId(call: Call, { name, args }: Fragment): boolean {
  if (name === null) return !call.extent.isWhole() || args.trim() === '';
  return name === call.name && call.extent.hasBegun && !call.extent.isWhole() && !beginsObject(args);
}

/** Tells whether a fragment at the place of a call begins another, where the call or the fragment has no id. */
function beginsAnother(call: Call, { given, name, args }: Fragment): boolean {
  if (name === null || call.name === '') return false;
  if (name !== call.name) return hasArguments(call) || given !== null;
  if (call.isEmptyObject) return args.trim() !== emptyObject;
  return call.extent.isWhole() && args !== '' && args !== call.text;
}

function hasArguments({ extent, isEmptyObject }: Call): boolean {
  return extent.hasBegun || isEmptyObject;
}

function beginsObject(args: string): boolean {
  return /^\s*\{/.test(args);
}

/** Adds a fragment to its call. @returns null: it says nothing that clients do not have, or nothing that they can use */
function add(call: Call, { name, args }: Fragment, raw: Loose): ChunkToolCall | null {
  const more = moreOf(call, args);
  const added = addedToCall(raw);
  const called: Loose = addedToFunction(functionIn(raw));
  // A name that comes again says nothing; pieces of one are joined.
  const newName = name === null || name === call.name ? null : name;
  if (newName !== null) call.name += newName;
  if (call.isSent) {
    if (newName !== null) called.name = newName;
    if (more !== '') called.arguments = more;
    const hasCalled = !isEmpty(called);
    if (!hasCalled && isEmpty(added)) return null;
    return { index: call.index, ...(hasCalled ? { function: called } : {}), ...added };
  }
  const { held } = call;
  held.text += more;
  Object.assign(held.added, added);
  Object.assign(held.called, called);
  if (call.name === '') return null;
  call.isSent = true;
  const { index, id } = call;
  const begun = { name: call.name, arguments: held.text, ...held.called };
  return { index, id, type: 'function', function: begun, ...held.added };
}

function isEmpty(fields: Loose): boolean {
  for (const _ in fields) return false;
  return true;
}

/** The arguments that a fragment adds. */
function moreOf(call: Call, args: string): string {
  if (args === '') return '';
  if (!call.extent.hasBegun && args.trim() === emptyObject) {
    call.isEmptyObject = true;
    return '';
  }
  call.isEmptyObject = false;
  // All of the call came again.
  if (args === call.text && call.extent.isWhole()) return '';
  call.extent.add(args);
  call.text = call.text.length + args.length > longestRepeated ? '' : call.text + args;
  return args;
}

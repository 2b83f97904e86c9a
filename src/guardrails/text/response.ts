import type { Step } from '../../call/hooks.ts';
import { type OutputItem, outputItemOf, withOutputItem } from '../../call/output-item.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta } from '../../schema/chunk.ts';
import { Channel } from './channel.ts';
import type { Findings } from './findings.ts';
import { OutputPart, type PartTools } from './output-part.ts';
import type { SplitPatterns } from './patterns.ts';
import { Texts } from './texts.ts';

export interface ResponseStepOptions {
  patterns: SplitPatterns;
  findings: Findings;
  /** true: the client speaks Responses, where a message ends when a call or another thought begins. */
  hasItems: boolean;
  /** The refusal of the response. */
  blocked(patterns: readonly string[]): Error;
  /** Is told once that all of the response was seen. */
  ended(): void;
}

/** Fields of a chunk that no model writes. */
const own: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'system_fingerprint',
  'service_tier',
  'usage',
  'error',
  'debug',
  'service_metadata',
]);

/** What a part of a message is to a client that speaks Responses. */
type Kind = 'thought' | 'text' | 'call';

interface Open {
  part: OutputPart;
  /** Of the last delta. */
  kind: Kind | null;
  item: OutputItem | null;
}

/** Looks at the response on its way to the client. */
export function responseStep({ patterns, findings, hasItems, blocked, ended }: ResponseStepOptions): Step {
  const texts = new Texts(patterns, findings);
  const holds = patterns.acting.length > 0;
  const refuse = () => {
    const names = findings.blocked;
    if (names.length > 0) throw blocked(names);
  };
  const tools: PartTools = {
    makeChannel: () => new Channel(patterns, findings, refuse),
    texts,
    refuse,
    refuseSound: () => {
      throw blocked(patterns.acting.map(({ name }) => name));
    },
    holds,
    hasItems,
  };
  /** By choice, and by output item where the client speaks Responses. */
  const open = new Map<string, Open>();
  let last: ChatChunk | null = null;

  function openOf(key: string): Open {
    let found = open.get(key);
    if (found === undefined) {
      found = { part: new OutputPart(tools), kind: null, item: null };
      open.set(key, found);
    }
    return found;
  }

  /** What a part has held back, as a choice; null: nothing. */
  function tailOf({ part, item }: Open, index: number): ChunkChoice | null {
    const delta = part.end();
    if (Object.keys(delta).length === 0) return null;
    return { index, delta: marked(delta, item, true), finish_reason: null };
  }

  function pushChoice(choice: ChunkChoice): ChunkChoice[] {
    const { index, delta, finish_reason, native_finish_reason, logprobs, ...others } = choice;
    const item = outputItemOf(delta);
    const key = item === null ? `${index}` : `${index} ${item.index}`;
    const current = openOf(key);
    if (item !== null) current.item = item;
    const out: ChunkChoice[] = [];
    const add = (one: ChunkChoice | null) => {
      if (one !== null) out.push(one);
    };
    const kind = hasItems && item === null ? kindOf(delta) : null;
    if (kind !== null && current.kind !== null && kind !== current.kind && current.kind !== 'call')
      add(tailOf(current, index));
    current.kind = kind ?? current.kind;
    const left = current.part.push(delta);
    const isEnd = item?.isDone === true || finish_reason !== null;
    const carried = {
      ...texts.value(others),
      // A token says what its text says, and may be sent before it.
      ...(logprobs && !holds ? { logprobs } : {}),
    };
    const isNothing = Object.keys(left).length === 0 && Object.keys(delta).length > 0 && item === null;
    if (!isEnd) {
      if (!isNothing) add({ ...carried, index, delta: marked(left, item), finish_reason: null });
      return out;
    }
    // First what came with the end, then what was held back, then the end.
    if (Object.keys(left).length > 0) add({ index, delta: marked(left, item, true), finish_reason: null });
    for (const [one, entry] of open)
      if (one === key || (finish_reason !== null && isOfChoice(one, index))) {
        add(tailOf(entry, index));
        open.delete(one);
      }
    const reason = native_finish_reason === undefined ? {} : { native_finish_reason };
    add({ ...carried, index, delta: marked({}, item), finish_reason, ...reason });
    return out;
  }

  /** @param goesOn  true: the delta is not the last of its item */
  function marked(delta: ChunkDelta, of: OutputItem | null, goesOn = false): ChunkDelta {
    if (of === null) return delta;
    const { isDone, event, ...item } = of;
    return withOutputItem(delta, {
      ...item,
      item: texts.value(item.item),
      ...(isDone === undefined || goesOn ? {} : { isDone }),
      ...(event === undefined ? {} : { event: texts.value(event) }),
    });
  }

  return {
    push(chunk) {
      last = chunk;
      const head = withoutOwn(chunk, texts);
      if (chunk.choices.length === 0) return [{ ...chunk, ...head }];
      const choices = chunk.choices.map(pushChoice);
      refuse();
      const most = Math.max(...choices.map(({ length }) => length));
      // What was held back stands in a chunk of its own, before.
      return Array.from({ length: most }, (_, at) => ({
        ...chunk,
        ...head,
        choices: choices.flatMap((ofChoice) => ofChoice[at - most + ofChoice.length] ?? []),
      }));
    },
    end({ kind }) {
      ended();
      if (kind !== 'complete' || last === null) return [];
      const { usage: _usage, ...like } = last;
      return [...open].flatMap(([key, entry]) => {
        const tail = tailOf(entry, Number.parseInt(key, 10));
        return tail === null ? [] : [{ ...like, choices: [tail] }];
      });
    },
  };
}

function isOfChoice(key: string, index: number): boolean {
  return Number.parseInt(key, 10) === index;
}

function kindOf({
  content,
  refusal,
  reasoning,
  reasoning_details: details,
  tool_calls: calls,
}: ChunkDelta): Kind | null {
  if (calls?.length) return 'call';
  if (content || refusal) return 'text';
  return reasoning || details?.length ? 'thought' : null;
}

/** The fields that a provider has added to a chunk, where something in them changes. */
function withoutOwn(chunk: ChatChunk, texts: Texts): Partial<ChatChunk> {
  const changed: Record<string, unknown> = {};
  for (const field of Object.keys(chunk)) {
    if (own.has(field)) continue;
    const value = texts.value(chunk[field], field);
    if (value !== chunk[field]) changed[field] = value;
  }
  return changed;
}

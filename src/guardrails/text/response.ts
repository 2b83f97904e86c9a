import type { ResponseStep } from '../../call/hooks.ts';
import { type OutputItem, outputItemOf, withOutputItem } from '../../call/output-item.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta } from '../../schema/chat/chunk.ts';
import { Channel } from './channel.ts';
import { isMemberName } from './exceptions.ts';
import type { Findings } from './findings.ts';
import { OutputPart, type PartTools } from './output-part.ts';
import type { Pausing, Work } from './pace.ts';
import type { SplitPatterns } from './patterns.ts';
import { Texts } from './texts.ts';
import { placeOf } from './walk.ts';

export interface ResponseStepOptions {
  patterns: SplitPatterns;
  findings: Findings;
  /**
   * true: the client speaks Responses or Messages, where a message, or a block, ends when a call or another thought begins.
   */
  hasItems: boolean;
  /** true: the request asks for JSON as the content. */
  expectsJson: boolean;
  /** true: thoughts and sound go on as they are: a changed thought would lose its signature. */
  skipsThoughts?: boolean;
  pausing: Pausing;
  /** Does the work, in slices if it is long. */
  run<T>(work: Work<T>): T | Promise<T>;
  /** The refusal of the response. */
  blocked(patterns: readonly string[]): Error;
  /** Called once when the complete response was checked. */
  ended(): void;
}

/** Fields of a chunk that the gateway writes. */
const own: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'usage',
  'error',
  'debug',
  'service_metadata',
]);

/** The kind of a message part for a client that speaks Responses. */
type Kind = 'thought' | 'text' | 'call';

interface Open {
  part: OutputPart;
  /** The kind and the item of the last delta. */
  kind: Kind | null;
  item: OutputItem | null;
}

/** Makes the step that checks the response on its way to the client. */
export function responseStep({
  patterns,
  findings,
  hasItems,
  expectsJson,
  skipsThoughts = false,
  pausing,
  run,
  blocked,
  ended,
}: ResponseStepOptions): ResponseStep {
  const texts = new Texts(patterns, findings, pausing);
  const holds = patterns.acting.length > 0;
  const refuse = () => {
    const names = findings.blocked;
    if (names.length > 0) throw blocked(names);
  };
  const tools: PartTools = {
    makeChannel: () => new Channel(patterns, findings, refuse, pausing),
    makeActingChannel: () => new Channel({ acting: patterns.acting, flagging: [] }, findings, refuse, pausing),
    texts,
    refuse,
    refuseSound: () => {
      throw blocked(patterns.acting.map(({ name }) => name));
    },
    holds,
    redacts: patterns.acting.some(({ action }) => action === 'redact'),
    hasItems,
    expectsJson,
    skipsThoughts,
  };
  /** By choice, and by output item where the client speaks Responses: the open parts. */
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

  /** The text that a part has held back, as a choice; null: none. */
  function* tailOf({ part, item }: Open, index: number): Work<ChunkChoice | null> {
    const delta = yield* part.end();
    if (Object.keys(delta).length === 0) return null;
    return { index, delta: yield* marked(delta, item, true), finish_reason: null };
  }

  function* pushChoice(choice: ChunkChoice): Work<ChunkChoice[]> {
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
      add(yield* tailOf(current, index));
    current.kind = kind ?? current.kind;
    const left = yield* current.part.push(delta);
    const isEnd = item?.isDone === true || finish_reason !== null;
    const carried = {
      ...(yield* texts.value(others)),
      // A token says the same as its text, and may be sent before the text.
      ...(logprobs && !holds ? { logprobs } : {}),
    };
    const isNothing = Object.keys(left).length === 0 && Object.keys(delta).length > 0 && item === null;
    if (!isEnd) {
      if (!isNothing) add({ ...carried, index, delta: yield* marked(left, item), finish_reason: null });
      return out;
    }
    // The order: the delta that came with the end, then the held text, then the end.
    if (Object.keys(left).length > 0) add({ index, delta: yield* marked(left, item, true), finish_reason: null });
    for (const [one, entry] of open)
      if (one === key || (finish_reason !== null && isOfChoice(one, index))) {
        add(yield* tailOf(entry, index));
        open.delete(one);
      }
    const reason =
      native_finish_reason === undefined
        ? {}
        : { native_finish_reason: yield* texts.value(native_finish_reason, 'native_finish_reason') };
    add({ ...carried, index, delta: yield* marked({}, item), finish_reason, ...reason });
    return out;
  }

  /** @param goesOn  true: the delta is not the last of its item */
  function* marked(delta: ChunkDelta, of: OutputItem | null, goesOn = false): Work<ChunkDelta> {
    if (of === null) return delta;
    const { isDone, event, ...item } = of;
    return withOutputItem(delta, {
      ...item,
      item: yield* texts.value(item.item),
      ...(isDone === undefined || goesOn ? {} : { isDone }),
      ...(event === undefined ? {} : { event: yield* texts.value(event) }),
    });
  }

  function* pushChunk(chunk: ChatChunk): Work<readonly ChatChunk[]> {
    last = chunk;
    const head = yield* withoutOwn(chunk, texts);
    const choices: ChunkChoice[][] = [];
    for (const choice of chunk.choices) choices.push(yield* pushChoice(choice));
    refuse();
    if (choices.length === 0) return [{ ...chunk, ...head }];
    const most = Math.max(...choices.map(({ length }) => length));
    // Held text has a chunk of its own, before the chunk of the end.
    return Array.from({ length: most }, (_, at) => ({
      ...chunk,
      ...head,
      choices: choices.flatMap((ofChoice) => ofChoice[at - most + ofChoice.length] ?? []),
    }));
  }

  function* tails(): Work<readonly ChatChunk[]> {
    if (last === null) return [];
    const { usage: _usage, ...like } = last;
    const chunks: ChatChunk[] = [];
    for (const [key, entry] of open) {
      const tail = yield* tailOf(entry, Number.parseInt(key, 10));
      if (tail !== null) chunks.push({ ...like, choices: [tail] });
    }
    return chunks;
  }

  function* lastOfAll(): Work<readonly ChatChunk[]> {
    try {
      return yield* tails();
    } finally {
      ended();
    }
  }

  return {
    isAsync: true,
    push: (chunk) => run(pushChunk(chunk)),
    end({ kind }) {
      if (kind !== 'complete') {
        ended();
        return [];
      }
      return run(lastOfAll());
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

/** The fields that a provider has added to a chunk, if a part of them changes. */
function* withoutOwn(chunk: ChatChunk, texts: Texts): Work<Partial<ChatChunk>> {
  const changed: Record<string, unknown> = {};
  for (const field of Object.keys(chunk)) {
    if (own.has(field)) continue;
    if (!isMemberName(field)) yield* texts.fixed(field, () => placeOf([field]));
    const value = yield* texts.value(chunk[field], field);
    if (value !== chunk[field]) changed[field] = value;
  }
  return changed;
}

import { toBase64 } from '../../base/base64.ts';
import { joinBytes } from '../../base/bytes.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { lazily } from '../../base/lazily.ts';
import type { Endpoint, PricedKind, Pricing } from '../../call/model.ts';
import type {
  Lack,
  SoundForm,
  SpeechBatch,
  SpeechCodec,
  TaskDecoder,
  TaskUsage,
} from '../../dialects/tasks/contract.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { SpeechRequest } from '../../schema/audio/speech-request.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { Task, TaskBatch, TaskHead, TaskProgress, TaskStream } from '../task/task.ts';
import { ItemCounter } from './counting.ts';
import { audioEvents, eventFrame } from './events.ts';
import { soundSeconds } from './sound-length.ts';
import { fieldsOf, itemsOf, needsOf, viewOf } from './view.ts';

/** The content types of sound, where the provider names none. */
const contentTypes: Readonly<Record<SoundForm, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/** Tokens of a second of sound that is made: some 20, and 25 or 32 with Gemini. */
const tokensPerSecond = { most: 32, usual: 21 };
/** Characters that are spoken in a second. */
const usualCharactersPerSecond = 14;
/** The most seconds of a letter, which may be spelled or spoken slowly, and of a digit, a sign or a character of Chinese. */
const mostSecondsOfLetter = 0.5;
const mostSecondsOfSign = 1.5;
/** Silence around it. */
const secondsMore = 10;

/** The bytes at the beginning of sound that tell its form. */
const headBytes = 16 * 1024;

/** Makes the task of a request for speech. @param usualForm  the form of sound where the request names none */
export function speechTask(request: SpeechRequest, usualForm: SoundForm): Task {
  return new SpeechTask(request, usualForm);
}

class SpeechTask implements Task {
  readonly name = 'speech';
  readonly hasModelFallbacks = true;
  readonly hasOpaqueInput = false;
  readonly fields: SpeechRequest;
  readonly stream: TaskStream;
  readonly #usualForm: SoundForm;
  readonly #counts = lazily(() => {
    const { input, instructions } = this.fields;
    const counter = new ItemCounter();
    const counts = [input, instructions ?? ''].map((text) => counter.text(text));
    return {
      most: counts.reduce((sum, { most }) => sum + most, 0),
      typical: counts.reduce((sum, { typical }) => sum + typical, 0),
    };
  });

  constructor(fields: SpeechRequest, usualForm: SoundForm) {
    this.fields = fields;
    this.#usualForm = usualForm;
    this.stream = { events: fields.stream_format === 'sse' ? audioEvents : null };
  }

  get parameters(): readonly string[] {
    return (['instructions', 'speed', 'voice'] as const).filter((name) => this.fields[name] != null);
  }

  get needs(): Needs {
    return needsOf();
  }

  get typicalTokens(): number {
    return this.#counts().typical + this.#usualTokens();
  }

  view(): ChatRequest {
    const { input, instructions } = this.fields;
    return viewOf(this.fields, instructions ? [input, instructions] : [input]);
  }

  withView(view: ChatRequest): Task {
    const { instructions } = this.fields;
    const [input, changed = instructions] = itemsOf(view, instructions ? 2 : 1);
    const fields = { ...fieldsOf(this.fields, view), input: input as string, instructions: changed as string | null };
    return new SpeechTask(fields, this.#usualForm);
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return codecOf(provider).lacks(this.#batch(provider, endpoint));
  }

  begin(): TaskProgress {
    return new SpeechProgress({
      wantsEvents: this.stream.events !== null,
      batch: (provider, endpoint) => this.#batch(provider, endpoint),
      bound: ({ pricing }) => this.#bound(pricing),
    });
  }

  parametersOf() {
    return {};
  }

  #batch({ quirks }: Provider, { upstreamModel }: Endpoint): SpeechBatch {
    const { input, voice, instructions, response_format: form, speed, stream_format: stream } = this.fields;
    return {
      input,
      voice: voice ?? undefined,
      instructions: instructions ?? undefined,
      form: form ?? this.#usualForm,
      speed: speed ?? undefined,
      wantsEvents: stream === 'sse',
      upstreamModel,
      quirks,
    };
  }

  #usualTokens(): number {
    return Math.ceil((this.fields.input.length / usualCharactersPerSecond) * tokensPerSecond.usual);
  }

  #bound(pricing: Pricing | null): TaskBound {
    const { input, speed } = this.fields;
    // Some providers count the halves of a pair of surrogates, none counts more.
    const units = { character: input.length };
    const none = { leastTokens: 0, images: 0, units };
    if (!isSoldByToken(pricing)) return { ...none, tokens: 0, typicalTokens: 0, kinds: noKinds };
    const { most, typical } = this.#counts();
    const letters = input.match(/[\p{Script=Latin}\s]/gu)?.length ?? 0;
    const seconds = letters * mostSecondsOfLetter + (input.length - letters) * mostSecondsOfSign;
    const longest = seconds / Math.min(speed ?? 1, 1) + secondsMore;
    return {
      ...none,
      leastTokens: 1,
      tokens: most,
      typicalTokens: typical,
      kinds: sound,
      ...(pricing?.isInputOnly === true && pricing.unitsPicoUsd?.character !== undefined
        ? {}
        : { output: { tokens: Math.ceil(longest * tokensPerSecond.most), typicalTokens: this.#usualTokens() } }),
    };
  }
}

const noKinds: ReadonlySet<PricedKind> = new Set();
const sound: ReadonlySet<PricedKind> = new Set(['audioOutput']);

/** Tells whether tokens cost something: else the characters alone do. */
function isSoldByToken(pricing: Pricing | null): boolean {
  if (pricing === null) return false;
  const { promptPicoUsd, completionPicoUsd, audioOutputPicoUsd = 0, unitsPicoUsd } = pricing;
  return promptPicoUsd + completionPicoUsd + audioOutputPicoUsd > 0 || unitsPicoUsd?.character === undefined;
}

function codecOf({ dialect }: Provider): SpeechCodec {
  return dialect.tasks?.speech as SpeechCodec;
}

interface ProgressInput {
  wantsEvents: boolean;
  batch(provider: Provider, endpoint: Endpoint): SpeechBatch;
  bound(endpoint: Endpoint): TaskBound;
}

/** Speech, as it arrives. */
class SpeechProgress implements TaskProgress {
  readonly #input: ProgressInput;
  #contentType = '';
  /** The sound of a response of JSON. */
  #sound: Uint8Array | null = null;
  /** The beginning of sound that has passed, and its bytes. */
  #head: Uint8Array = new Uint8Array(0);
  #bytes = 0;

  constructor(input: ProgressInput) {
    this.#input = input;
  }

  restart(): void {
    this.#sound = null;
  }

  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[] {
    if (this.#sound !== null) return [];
    const codec = codecOf(provider);
    const batch = this.#input.batch(provider, endpoint);
    const isUnsaid = isSoldByToken(endpoint.pricing);
    return [
      {
        bound: this.#input.bound(endpoint),
        encode: () => codec.encode(batch),
        take: (body) => {
          const { sound: made, usage } = codec.decode(body, batch);
          this.#contentType = contentTypes[batch.form];
          this.#sound = made;
          return usage;
        },
        ...(codec.decoder === undefined
          ? {}
          : {
              decoder: (headers) => {
                const decoder = codec.decoder?.(batch, headers) as TaskDecoder;
                const { 'content-type': type = '' } = headers;
                this.#contentType = /^audio\//i.test(type) ? type : contentTypes[batch.form];
                return decoder.framing === null ? this.#measured(decoder, batch, isUnsaid) : decoder;
              },
            }),
      },
    ];
  }

  contentType(): string | null {
    return this.#input.wantsEvents ? null : this.#contentType;
  }

  piece(piece: unknown): string | Uint8Array {
    const bytes = piece as Uint8Array;
    if (this.#head.length < headBytes)
      this.#head = joinBytes([this.#head, bytes.subarray(0, headBytes - this.#head.length)]);
    this.#bytes += bytes.length;
    return this.#input.wantsEvents ? eventFrame({ type: 'speech.audio.delta', audio: toBase64(bytes) }) : bytes;
  }

  last(_: TaskHead, usage: Usage, further: Readonly<Record<string, unknown>>): string | Uint8Array {
    const rest = this.#sound ?? new Uint8Array(0);
    if (!this.#input.wantsEvents) return rest;
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total, ...more } = usage;
    const { prompt_tokens_details: _in, completion_tokens_details: _out, ...cost } = more;
    const shown = { input_tokens: input, output_tokens: output, total_tokens: total, ...cost };
    const delta = rest.length === 0 ? '' : eventFrame({ type: 'speech.audio.delta', audio: toBase64(rest) });
    return `${delta}${eventFrame({ type: 'speech.audio.done', usage: shown, ...further })}`;
  }

  /** A response of bytes reports no tokens: the sound that has passed tells them. */
  #measured(decoder: TaskDecoder, { form, input, instructions }: SpeechBatch, isSoldByToken: boolean): TaskDecoder {
    return {
      framing: null,
      decode: (data, name) => decoder.decode(data, name),
      end: () => {
        const [head, bytes] = [this.#head, this.#bytes];
        if (bytes === 0)
          throw new UpstreamError('The provider responded without sound.', { reason: 'bad_response', status: 502 });
        const usage: TaskUsage = { promptTokens: null };
        if (isSoldByToken) {
          const seconds = soundSeconds(form, head, bytes);
          usage.isEstimated = true;
          usage.promptTokens = new ItemCounter().text(`${input}${instructions ?? ''}`).typical;
          if (seconds !== null) usage.completionTokens = Math.ceil(seconds * tokensPerSecond.usual) + 1;
        }
        return [{ kind: 'usage', usage }, ...decoder.end()];
      },
    };
  }

  /** Not asked for: each response is streamed. */
  result(): unknown {
    return null;
  }
}

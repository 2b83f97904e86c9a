import { fromBase64 } from '../../base/base64.ts';
import { type UploadedFile, uploadedFile } from '../../base/http/uploaded-file.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { lazily } from '../../base/lazily.ts';
import type { Endpoint, PricedKind, Pricing } from '../../call/model.ts';
import type {
  Lack,
  Transcript,
  TranscriptBatch,
  TranscriptCodec,
  TranscriptForm,
  TranscriptPiece,
  TranscriptWishes,
} from '../../dialects/tasks/contract.ts';
import { audioNameEnd, mostSeconds } from '../../pricing/audio/length.ts';
import type { TaskBound } from '../../pricing/task-cost.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Needs } from '../../routing/needs.ts';
import type { TranscriptionRequest, TranslationRequest } from '../../schema/audio/transcription-request.ts';
import type { TranscriptUsage } from '../../schema/audio/transcription-result.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { MakeGuard, Task, TaskBatch, TaskHead, TaskProgress, TaskStream, TextGuard } from '../task/task.ts';
import { ItemCounter } from './counting.ts';
import { audioEvents, eventFrame } from './events.ts';
import { srt, timedIn, vtt } from './subtitles.ts';
import { fieldsOf, itemsOf, needsOf, viewOf } from './view.ts';

type Name = 'transcriptions' | 'translations';
/** The forms of a response for the client. */
type ClientForm = NonNullable<TranscriptionRequest['response_format']>;

/** The tokens of a second of sound: usually 10 to 25, and 32 with Gemini. */
const tokensPerSecond = { most: 32, typical: 10 };
/** Marks around the sound. */
const tokensPerRequest = 128;
/** The tokens of what is said in a second, and of an answer that says little. */
const saidPerSecond = { most: 25, typical: 4 };
const leastSaid = 512;
/** A provider may round up, or add silence at the end. */
const secondsMore = 1;

/** Makes the task of a request for a transcript. @param name  `translations`: the words in English */
export function transcriptTask(name: Name, request: TranscriptionRequest | TranslationRequest): Task {
  return new TranscriptTask(name, request, named(fileOf(request)));
}

function fileOf({ file, input_audio: given }: TranscriptionRequest | TranslationRequest): UploadedFile {
  if (file !== undefined) return file;
  const { data = '', format = '' } = given ?? {};
  const end = format.toLowerCase().replace(/[^a-z0-9]/g, '');
  return uploadedFile(`audio.${end}`, `audio/${end}`, [fromBase64(data) ?? new Uint8Array(0)]);
}

/** Gives a file a name with an end, by which providers tell its form. */
function named(file: UploadedFile): UploadedFile {
  if (/\.[A-Za-z0-9]{2,5}$/.test(file.name ?? '')) return file;
  return { ...file, name: `${file.name || 'audio'}.${audioNameEnd(file)}` };
}

class TranscriptTask implements Task {
  readonly name: Name;
  readonly hasModelFallbacks = true;
  readonly hasOpaqueInput = false;
  readonly fields: TranscriptionRequest;
  readonly stream: TaskStream | undefined;
  readonly #file: UploadedFile;
  readonly #seconds = lazily(() => Math.ceil(mostSeconds(this.#file)));
  readonly #form: ClientForm;

  constructor(name: Name, fields: TranscriptionRequest, file: UploadedFile) {
    this.name = name;
    this.fields = fields;
    this.#file = file;
    this.#form = fields.response_format ?? 'json';
    this.stream = fields.stream === true ? { events: audioEvents } : undefined;
  }

  get parameters(): readonly string[] {
    return Object.keys(wishesOf(this.fields));
  }

  get needs(): Needs {
    return needsOf();
  }

  get typicalTokens(): number {
    return this.#seconds() * (tokensPerSecond.typical + saidPerSecond.typical);
  }

  view(): ChatRequest {
    return viewOf(this.fields, textsIn(this.fields));
  }

  withView(view: ChatRequest): Task {
    const texts = itemsOf(view, textsIn(this.fields).length) as string[];
    const fields = { ...fieldsOf(this.fields, view), ...withTexts(this.fields, texts) };
    return new TranscriptTask(this.name, fields, this.#file);
  }

  lacks(provider: Provider, endpoint: Endpoint): Lack | null {
    return this.#codec(provider).lacks(this.#batch(provider, endpoint));
  }

  begin(guard: MakeGuard | null): TaskProgress {
    return new TranscriptProgress({
      form: this.#form,
      isStream: this.stream !== undefined,
      guard,
      codec: (provider) => this.#codec(provider),
      batch: (provider, endpoint) => this.#batch(provider, endpoint),
      bound: (codec, provider, endpoint) => this.#bound(codec.leastSeconds(provider.quirks), endpoint.pricing),
    });
  }

  parametersOf() {
    const { temperature } = this.fields;
    return typeof temperature === 'number' ? { temperature } : {};
  }

  #codec({ dialect }: Provider): TranscriptCodec {
    return dialect.tasks?.[this.name] as TranscriptCodec;
  }

  #batch({ quirks }: Provider, { upstreamModel }: Endpoint): TranscriptBatch {
    const { fields } = this;
    return {
      task: this.name,
      file: this.#file,
      form: neededForm(this.#form),
      isStream: this.stream !== undefined,
      wishes: wishesOf(fields),
      upstreamModel,
      quirks,
    };
  }

  #bound(leastSeconds: number, pricing: Pricing | null): TaskBound {
    const seconds = Math.max(this.#seconds() + secondsMore, leastSeconds);
    const units = { second: seconds };
    const none = { leastTokens: 0, images: 0, units };
    if (!isSoldByToken(pricing)) return { ...none, tokens: 0, typicalTokens: 0, kinds: noKinds };
    const prompt = new ItemCounter().text(this.fields.prompt ?? '');
    const isInputAlone = pricing?.isInputOnly === true && pricing.unitsPicoUsd?.second !== undefined;
    return {
      ...none,
      leastTokens: 1,
      tokens: seconds * tokensPerSecond.most + tokensPerRequest + prompt.most,
      typicalTokens: seconds * tokensPerSecond.typical + prompt.typical,
      kinds: sound,
      ...(isInputAlone
        ? {}
        : {
            output: {
              tokens: seconds * saidPerSecond.most + leastSaid,
              typicalTokens: seconds * saidPerSecond.typical,
            },
          }),
    };
  }
}

type Texts = Pick<TranscriptionRequest, 'prompt' | 'keywords' | 'known_speaker_names'>;

/** The texts of a caller: the prompt, the keywords, the names of speakers. */
function textsIn({ prompt, keywords, known_speaker_names: names }: Texts): readonly string[] {
  return [...(prompt ? [prompt] : []), ...(keywords ?? []), ...(names ?? [])];
}

/** Returns the fields with other texts, in the order of `textsIn`. */
function withTexts({ prompt, keywords, known_speaker_names: names }: Texts, texts: readonly string[]): Texts {
  const left = [...texts];
  return {
    ...(prompt ? { prompt: left.shift() } : {}),
    ...(keywords ? { keywords: left.splice(0, keywords.length) } : {}),
    ...(names ? { known_speaker_names: left } : {}),
  };
}

const noKinds: ReadonlySet<PricedKind> = new Set();
const sound: ReadonlySet<PricedKind> = new Set(['audio']);

/** Tells whether tokens cost something: else the seconds alone do. */
function isSoldByToken(pricing: Pricing | null): boolean {
  if (pricing === null) return false;
  const { promptPicoUsd, completionPicoUsd, audioPicoUsd = 0, unitsPicoUsd } = pricing;
  return promptPicoUsd + completionPicoUsd + audioPicoUsd > 0 || unitsPicoUsd?.second === undefined;
}

/** Returns the form of which the client's can be made. */
function neededForm(form: ClientForm): TranscriptForm {
  if (form === 'text') return 'json';
  return form === 'srt' || form === 'vtt' ? 'verbose_json' : form;
}

const wishNames = [
  'language',
  'languages',
  'keywords',
  'prompt',
  'temperature',
  'timestamp_granularities',
  'include',
  'chunking_strategy',
  'known_speaker_names',
  'known_speaker_references',
] as const satisfies readonly (keyof TranscriptWishes)[];

function wishesOf(fields: TranscriptionRequest): TranscriptWishes {
  return Object.fromEntries(
    wishNames.flatMap((name) => (fields[name] === undefined || fields[name] === null ? [] : [[name, fields[name]]])),
  );
}

interface ProgressInput {
  form: ClientForm;
  isStream: boolean;
  guard: MakeGuard | null;
  codec(provider: Provider): TranscriptCodec;
  batch(provider: Provider, endpoint: Endpoint): TranscriptBatch;
  bound(codec: TranscriptCodec, provider: Provider, endpoint: Endpoint): TaskBound;
}

/** A transcript, as it arrives. */
class TranscriptProgress implements TaskProgress {
  readonly #input: ProgressInput;
  /** The transcript; of a stream, once it has ended. */
  #transcript: Transcript | null = null;
  /** The text that a stream has brought to the client. */
  #sent = '';
  /** true: a stream of the provider has begun. */
  #hasBegun = false;
  /** The last text of a stream, which guardrails held back. */
  #rest = '';
  #texts: TextGuard | null = null;
  #segments: TextGuard | null = null;
  /** The latest segment of a stream: guardrails may still hold back a part of its text. */
  #heldSegment: { readonly text: string; readonly [field: string]: unknown } | null = null;

  constructor(input: ProgressInput) {
    this.#input = input;
  }

  restart(): void {
    this.#transcript = null;
  }

  missing(provider: Provider, endpoint: Endpoint): readonly TaskBatch[] {
    if (this.#transcript !== null) return [];
    const { isStream, form } = this.#input;
    const codec = this.#input.codec(provider);
    const batch = this.#input.batch(provider, endpoint);
    return [
      {
        bound: this.#input.bound(codec, provider, endpoint),
        encode: () => codec.encode(batch),
        take: (body) => {
          const { transcript, usage } = codec.decode(body, batch);
          if ((form === 'srt' || form === 'vtt') && timedIn(transcript.segments) === null)
            throw new UpstreamError('The provider responded with a transcript without times.', {
              reason: 'bad_response',
              status: 502,
            });
          this.#transcript = transcript;
          return usage;
        },
        ...(isStream ? { decoder: () => codec.decoder(batch) } : {}),
      },
    ];
  }

  async checked(): Promise<void> {
    const { guard } = this.#input;
    if (guard === null) return;
    if (this.#hasBegun) {
      this.#rest = (await this.#texts?.end()) ?? '';
      const segment = await this.#lastSegment();
      this.#rest = `${this.#rest === '' ? '' : this.#delta(this.#rest, {})}${segment}`;
      return;
    }
    if (this.#transcript !== null) this.#transcript = await guarded(this.#transcript, guard);
  }

  contentType(): string | null {
    const { form, isStream } = this.#input;
    if (isStream) return null;
    return form === 'text' || form === 'srt'
      ? 'text/plain; charset=utf-8'
      : form === 'vtt'
        ? 'text/vtt; charset=utf-8'
        : null;
  }

  result(_: TaskHead, usage: Usage): unknown {
    const { form } = this.#input;
    const transcript = this.#transcript as Transcript;
    if (form === 'text') return `${transcript.text.trim()}\n`;
    if (form === 'srt') return srt(timedIn(transcript.segments) ?? []);
    if (form === 'vtt') return vtt(timedIn(transcript.segments) ?? []);
    return { ...transcript, usage: transcriptUsageOf(usage) };
  }

  async piece(given: unknown): Promise<string> {
    const piece = given as TranscriptPiece;
    const { guard } = this.#input;
    if (piece.kind === 'end') {
      // Where nothing came before, all of it is still to be read.
      const fields = guard === null || !this.#hasBegun ? piece.fields : {};
      this.#transcript = { ...fields, text: piece.text };
      return '';
    }
    this.#hasBegun = true;
    if (piece.kind === 'segment') return this.#segment(piece.segment);
    if (guard === null) return this.#delta(piece.text, piece.fields);
    this.#texts ??= guard();
    const text = await this.#texts.push(piece.text);
    return text === '' ? '' : this.#delta(text, {});
  }

  last(_: TaskHead, usage: Usage, further: Readonly<Record<string, unknown>>): string {
    const { guard } = this.#input;
    const transcript = this.#transcript as Transcript;
    const shown = transcriptUsageOf(usage);
    if (!this.#hasBegun)
      return `${this.#delta(transcript.text, {})}${eventFrame({ type: 'transcript.text.done', text: transcript.text, usage: shown, ...further })}`;
    // The text of the end is the same as that before it, and guardrails may have changed that.
    const text = guard === null ? transcript.text : this.#sent;
    return `${this.#rest}${eventFrame({ ...transcript, type: 'transcript.text.done', text, usage: shown, ...further })}`;
  }

  #delta(text: string, fields: Readonly<Record<string, unknown>>): string {
    this.#sent += text;
    return eventFrame({ ...fields, type: 'transcript.text.delta', delta: text });
  }

  async #segment(segment: { readonly text: string; readonly [field: string]: unknown }): Promise<string> {
    const { guard } = this.#input;
    if (guard === null) return eventFrame(segment);
    this.#segments ??= guard();
    // A text that is held back comes with the next segment.
    const text = await this.#segments.push(segment.text);
    const before = this.#heldSegment;
    this.#heldSegment = { ...segment, text };
    return before === null ? '' : eventFrame(before);
  }

  async #lastSegment(): Promise<string> {
    const text = (await this.#segments?.end()) ?? '';
    const last = this.#heldSegment;
    return last === null ? '' : eventFrame({ ...last, text: `${last.text}${text}` });
  }
}

/** Fields of a transcript and its parts that hold no words. */
const wordless = ['task', 'language', 'duration'] as const;
const wordlessOfParts = ['id', 'start', 'end', 'speaker', 'type'] as const;

/**
 * Sends a transcript through guardrails. Where they change a text, the parts get what is left of it, and fields that may
 * hold the words once more, such as `words`, are left out.
 * @throws GatewayError that refuses it
 */
async function guarded(transcript: Transcript, makeGuard: MakeGuard): Promise<Transcript> {
  const ofText = makeGuard();
  const text = (await ofText.push(transcript.text)) + (await ofText.end());
  const parts = timedIn(transcript.segments) ?? [];
  const texts: string[] = [];
  if (parts.length > 0) {
    const ofParts = makeGuard();
    for (const part of parts) texts.push(await ofParts.push(part.text));
    texts[texts.length - 1] += await ofParts.end();
  }
  const isSame = text === transcript.text && texts.join('') === parts.map((part) => part.text).join('');
  if (isSame) return transcript;
  const segments = parts.map((part, at) => ({ ...only(part, wordlessOfParts), text: texts[at] as string }));
  return { ...only(transcript, wordless), text, ...(parts.length > 0 ? { segments } : {}) };
}

function only(fields: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/** Returns the usage as its client gets it. */
function transcriptUsageOf(usage: Usage & { seconds?: number }): TranscriptUsage {
  const {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: details,
    seconds = 0,
    ...rest
  } = usage;
  const { total_tokens: total, completion_tokens_details: _, ...cost } = rest as typeof rest & Record<string, unknown>;
  if (total === 0) return { ...cost, type: 'duration', seconds } as TranscriptUsage;
  const audio = details?.audio_tokens ?? 0;
  return {
    ...cost,
    type: 'tokens',
    input_tokens: input,
    ...(audio > 0 ? { input_token_details: { audio_tokens: audio, text_tokens: input - audio } } : {}),
    output_tokens: output,
    total_tokens: total,
    seconds,
  } as TranscriptUsage;
}

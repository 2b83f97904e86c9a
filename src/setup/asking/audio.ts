import { isObject } from '../../base/values.ts';
import type { Caller } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import { respond } from '../../http/respond.ts';
import type { ListedOperation } from '../../operations/operation.ts';
import type { SpeechRequest } from '../../schema/audio/speech-request.ts';
import type { TranscriptionRequest, TranslationRequest } from '../../schema/audio/transcription-request.ts';
import type { TranscriptionEvent, TranscriptionResult } from '../../schema/audio/transcription-result.ts';
import { type AskOperation, type CompletionOptions, checkedOptions } from './completions.ts';
import { type FileSource, isFileSource, readFile } from './files.ts';
import { type CompletionStream, completionStream, type EventMeaning, reportedError } from './stream.ts';

/** The body of a request for a transcript, with its file. */
export type TranscriptionBody = Omit<TranscriptionRequest, 'file'> & { file?: FileSource | undefined };
/** The body of a request for a translation, with its file. */
export type TranslationBody = Omit<TranslationRequest, 'file'> & { file?: FileSource | undefined };

/** The forms of a response that are texts. */
interface InText {
  /** The form. */
  response_format: 'text' | 'srt' | 'vtt';
}

/** The forms that are JSON. */
interface InJson {
  /** The form. */
  response_format?: 'json' | 'verbose_json' | 'diarized_json' | null | undefined;
}

/** A request for a stream. */
interface Streamed {
  /** The words come as events. */
  stream: true;
}

/** A request for a response that is complete at once. */
interface NotStreamed {
  /** The words come at once. */
  stream?: false | null | undefined;
}

/**
 * Asks for a transcript. `stream: true` asks for a stream, a form that is a text for that text.
 * @throws GatewayError of which a response would tell; the reason of the signal, once that is aborted
 */
export interface CreateTranscription {
  (body: TranscriptionBody & Streamed, options?: CompletionOptions): Promise<CompletionStream<TranscriptionEvent>>;
  (body: TranscriptionBody & InText, options?: CompletionOptions): Promise<string>;
  (body: TranscriptionBody & InJson & NotStreamed, options?: CompletionOptions): Promise<TranscriptionResult>;
}

/** Asks for a translation, as `CreateTranscription`. */
export interface CreateTranslation {
  (body: TranslationBody & InText, options?: CompletionOptions): Promise<string>;
  (body: TranslationBody & InJson, options?: CompletionOptions): Promise<TranscriptionResult>;
}

/** The functions for sound. */
export interface Audio {
  /** Speech. */
  readonly speech: {
    /**
     * As POST /audio/speech. The body of the response is the sound, or events; cancelling it stops the provider.
     * @throws as `CreateTranscription`
     */
    readonly create: (body: SpeechRequest, options?: CompletionOptions) => Promise<Response>;
  };
  /** Transcripts. */
  readonly transcriptions: {
    /** As POST /audio/transcriptions. */
    readonly create: CreateTranscription;
  };
  /** Transcripts in English. */
  readonly translations: {
    /** As POST /audio/translations. */
    readonly create: CreateTranslation;
  };
}

/** Makes the functions for sound of a caller. */
export function createAudio(operations: readonly ListedOperation[], ask: AskOperation, caller: Caller): Audio {
  const named = (name: string) => operations.find((one) => one.name === name) as ListedOperation;
  const asked = async (name: string, body: unknown, options: unknown) => {
    const { signal, headers } = checkedOptions(options);
    signal?.throwIfAborted();
    // Another value stays, and the schema refuses it.
    const given = isObject(body) && isFileSource(body.file) ? { ...body, file: await readFile(body.file) } : body;
    const reply = await ask(named(name), given, caller, { headers, signal });
    if (reply.kind !== 'stream') signal?.throwIfAborted();
    return { reply, signal };
  };
  const text = async (name: string, body: unknown, options: unknown) => {
    const { reply, signal } = await asked(name, body, options);
    return contentOf(reply, signal);
  };
  return {
    speech: {
      create: async (body, options) => respond((await asked('createSpeech', body, options)).reply, false, Response),
    },
    transcriptions: {
      create: ((body: unknown, options?: unknown) => text('createTranscription', body, options)) as CreateTranscription,
    },
    translations: {
      create: ((body: unknown, options?: unknown) => text('createTranslation', body, options)) as CreateTranslation,
    },
  };
}

function contentOf(reply: OperationReply, signal: AbortSignal | undefined): unknown {
  if (reply.kind === 'stream') return completionStream(reply.body, { ...reply.headers }, ofEvents, signal);
  return reply.kind === 'file' ? reply.body : JSON.parse(JSON.stringify(reply.body));
}

const ofEvents: EventMeaning<TranscriptionEvent> = {
  showsFailure: false,
  hasSentinel: true,
  isLast: ({ type }) => type === 'transcript.text.done',
  failure(event) {
    const { error } = event as { error?: unknown };
    return isObject(error) ? reportedError(error as { message: string }) : null;
  },
};

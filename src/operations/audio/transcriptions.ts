import { fromBase64 } from '../../base/base64.ts';
import { transcriptTask } from '../../pipeline/tasks/transcriptions.ts';
import {
  type TranscriptionRequest,
  type TranslationRequest,
  transcriptionRequestSchema,
  translationRequestSchema,
} from '../../schema/audio/transcription-request.ts';
import { transcriptionResultSchema } from '../../schema/audio/transcription-result.ts';
import type { FormFields, Operation } from '../operation.ts';
import { asTaskOperation, explainTaskOperation, type TaskDeps, type TaskRequest } from '../tasks/task-call.ts';

const commonForm = { file: 'file', input_audio: 'object', temperature: 'number' } as const satisfies FormFields;
const taskForm = { models: 'list', provider: 'object', trace: 'object' } as const satisfies FormFields;

/** The request, as POST /audio/transcriptions and its explanation read it. */
const ofTranscription = {
  body: transcriptionRequestSchema,
  form: {
    ...commonForm,
    ...taskForm,
    languages: 'list',
    keywords: 'list',
    timestamp_granularities: 'list',
    include: 'list',
    chunking_strategy: 'object',
    known_speaker_names: 'list',
    known_speaker_references: 'list',
    stream: 'boolean',
  },
  issues: (body) => [...fileIssues(body), ...formIssues(body)],
  taskOf: (body) => transcriptTask('transcriptions', body),
} satisfies TaskRequest<TranscriptionRequest>;

/** The request, as POST /audio/translations and its explanation read it. */
const ofTranslation = {
  body: translationRequestSchema,
  form: { ...commonForm, ...taskForm },
  issues: fileIssues,
  taskOf: (body) => transcriptTask('translations', body),
} satisfies TaskRequest<TranslationRequest>;

/**
 * Writes down what is said.
 * @see docs/audio.md
 */
export function createTranscription(deps: TaskDeps): Operation<TranscriptionRequest> {
  return asTaskOperation(deps, {
    name: 'createTranscription',
    path: '/audio/transcriptions',
    result: transcriptionResultSchema,
    ...ofTranscription,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainTranscription(deps: TaskDeps): Operation<TranscriptionRequest> {
  return explainTaskOperation(deps, {
    name: 'explainTranscription',
    path: '/audio/transcriptions/explain',
    ...ofTranscription,
  });
}

/**
 * Writes down in English what is said.
 * @see docs/audio.md
 */
export function createTranslation(deps: TaskDeps): Operation<TranslationRequest> {
  return asTaskOperation(deps, {
    name: 'createTranslation',
    path: '/audio/translations',
    result: transcriptionResultSchema,
    ...ofTranslation,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainTranslation(deps: TaskDeps): Operation<TranslationRequest> {
  return explainTaskOperation(deps, {
    name: 'explainTranslation',
    path: '/audio/translations/explain',
    ...ofTranslation,
  });
}

type Issues = readonly { path: string; message: string }[];

function fileIssues({ file, input_audio: audio }: TranscriptionRequest | TranslationRequest): Issues {
  if (file === undefined && audio === undefined)
    return [{ path: 'file', message: 'expected a file in a form (multipart/form-data), or input_audio in JSON' }];
  if (file !== undefined && audio !== undefined)
    return [{ path: 'input_audio', message: 'expected either file or input_audio' }];
  if (audio !== undefined && !isBase64(audio.data))
    return [{ path: 'input_audio.data', message: 'expected base64, without data: before it' }];
  return [];
}

/** A text of another length than whole bytes need is none: nothing would be left of it. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && fromBase64(text) !== null;
}

function formIssues(body: TranscriptionRequest): Issues {
  const { response_format: form = 'json', stream, timestamp_granularities: granularities, include } = body;
  const { known_speaker_names: names, known_speaker_references: references } = body;
  const issues: { path: string; message: string }[] = [];
  if (stream === true && !['json', 'text', 'diarized_json'].includes(form ?? 'json'))
    issues.push({
      path: 'stream',
      message: `expected false with the response_format ${form}, which is complete at once`,
    });
  if (granularities !== undefined && form !== 'verbose_json')
    issues.push({ path: 'timestamp_granularities', message: 'expected none, or the response_format verbose_json' });
  if (include !== undefined && include.length > 0 && (form ?? 'json') !== 'json')
    issues.push({ path: 'include', message: 'expected none, or the response_format json' });
  if ((names ?? []).length !== (references ?? []).length)
    issues.push({ path: 'known_speaker_references', message: 'expected as many as known_speaker_names' });
  return issues;
}

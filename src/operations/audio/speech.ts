import { speechTask } from '../../pipeline/tasks/speech.ts';
import { type SpeechRequest, speechEventSchema, speechRequestSchema } from '../../schema/audio/speech-request.ts';
import type { Presentation } from '../compat.ts';
import type { Operation } from '../operation.ts';
import { asTaskOperation, explainTaskOperation, type TaskDeps } from '../tasks/task-call.ts';

/** The parts that operations for speech need beside those of every task. */
interface SpeechDeps extends TaskDeps {
  presentation: Pick<Presentation, 'soundForm'>;
}

/**
 * Speaks a text.
 * @see docs/audio.md
 */
export function createSpeech(deps: SpeechDeps): Operation<SpeechRequest> {
  return asTaskOperation(deps, {
    name: 'createSpeech',
    path: '/audio/speech',
    body: speechRequestSchema,
    result: speechEventSchema,
    taskOf: (body) => speechTask(body, deps.presentation.soundForm),
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainSpeech(deps: SpeechDeps): Operation<SpeechRequest> {
  return explainTaskOperation(deps, {
    name: 'explainSpeech',
    path: '/audio/speech/explain',
    body: speechRequestSchema,
    taskOf: (body) => speechTask(body, deps.presentation.soundForm),
  });
}

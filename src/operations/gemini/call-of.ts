import type { Ids } from '../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import { geminiEncoder } from '../../formats/gemini/encoder/index.ts';
import { askOfGemini } from '../../formats/gemini/request/index.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { RequestBounds } from '../../schema/chat/request-bounds.ts';
import type { GeminiRequest } from '../../schema/gemini/request.ts';
import { completionCalls } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';
import { type GeminiQuery, wantsEvents } from './query.ts';

/** The dependencies of the operations of the Gemini wire. */
export interface GeminiDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds;
}

/** Makes the call of a request of the Gemini wire. */
export function geminiCalls(
  { ids, brand }: Pick<GeminiDeps, 'ids' | 'brand'>,
  operation: string,
  stream: boolean,
): (input: OperationInput<GeminiRequest, GeminiQuery>) => Call {
  const callOf = completionCalls(ids, brand, operation);
  return (input) => {
    const form = wantsEvents(input.query) ? 'events' : 'array';
    const ask = askOfGemini(input.body, { model: modelOf(input.params), stream });
    return callOf(input, ask, geminiEncoder({ brand, form }));
  };
}

/** The model of a path. Some clients write `models/` twice. */
export function modelOf({ model = '' }: OperationInput['params']): string {
  return model.replace(/^models\//, '');
}

import { sse } from './frames.ts';
import type { Response } from './response.ts';

/** Every event repeats where it belongs; the ends of parts and items, and of the response, repeat what came before. */
export function responsesEvents({ thoughts, texts, call, usage }: Response): Buffer[] {
  let events = 0;
  const event = (type: string, fields: object) => sse({ type, ...fields, sequence_number: events++ }, type);
  const response = (status: string, more: object) => ({
    response: {
      id: 'resp_080c14c13caa16d10069e2f3fd66cc819e803927d8741bf6ae',
      object: 'response',
      created_at: 1_790_000_000,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: 'You are a helpful assistant.',
      max_output_tokens: 400,
      model: 'bench-model-2026-08-06',
      output: [],
      parallel_tool_calls: true,
      reasoning: { effort: 'medium', summary: 'auto' },
      service_tier: 'default',
      store: false,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [{ type: 'function', name: call.name, parameters: { type: 'object', properties: {} }, strict: false }],
      usage: null,
      metadata: {},
      ...more,
    },
  });
  const hidden = { obfuscation: 'hFs853OtToEB' };

  const summary = { type: 'summary_text', text: thoughts.join('') };
  const thought = {
    id: 'rs_080c14c13caa16d10069e2f3fe9e58819e9137b9726337c72a',
    type: 'reasoning',
    summary: [summary],
  };
  const inThought = { item_id: thought.id, output_index: 0, summary_index: 0 };

  const part = { type: 'output_text', annotations: [], logprobs: [], text: texts.join('') };
  const message = {
    id: 'msg_080c14c13caa16d10069e2f3fe9e58819e9137b9726337c72a',
    type: 'message',
    status: 'completed',
    content: [part],
    role: 'assistant',
  };
  const inMessage = { content_index: 0, item_id: message.id, output_index: 1 };

  const called = {
    id: 'fc_0050471a34b36ae60068c97bf19d9c819590eaf42c0edc1042',
    type: 'function_call',
    status: 'completed',
    arguments: call.arguments.join(''),
    call_id: call.id,
    name: call.name,
  };
  const inCall = { item_id: called.id, output_index: 2 };

  return [
    event('response.created', response('in_progress', {})),
    event('response.in_progress', response('in_progress', {})),

    event('response.output_item.added', { item: { ...thought, summary: [] }, output_index: 0 }),
    event('response.reasoning_summary_part.added', { ...inThought, part: { ...summary, text: '' } }),
    ...thoughts.map((delta) => event('response.reasoning_summary_text.delta', { ...inThought, delta, ...hidden })),
    event('response.reasoning_summary_text.done', { ...inThought, text: summary.text }),
    event('response.reasoning_summary_part.done', { ...inThought, part: summary }),
    event('response.output_item.done', { item: thought, output_index: 0 }),

    event('response.output_item.added', { item: { ...message, status: 'in_progress', content: [] }, output_index: 1 }),
    event('response.content_part.added', { ...inMessage, part: { ...part, text: '' } }),
    ...texts.map((delta) => event('response.output_text.delta', { ...inMessage, delta, logprobs: [], ...hidden })),
    event('response.output_text.done', { ...inMessage, text: part.text, logprobs: [] }),
    event('response.content_part.done', { ...inMessage, part }),
    event('response.output_item.done', { item: message, output_index: 1 }),

    event('response.output_item.added', { item: { ...called, status: 'in_progress', arguments: '' }, output_index: 2 }),
    ...call.arguments.map((delta) => event('response.function_call_arguments.delta', { ...inCall, delta, ...hidden })),
    event('response.function_call_arguments.done', { ...inCall, arguments: called.arguments }),
    event('response.output_item.done', { item: called, output_index: 2 }),

    event(
      'response.completed',
      response('completed', {
        output: [thought, message, called],
        usage: {
          input_tokens: usage.prompt,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.completion,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.prompt + usage.completion,
        },
      }),
    ),
  ];
}

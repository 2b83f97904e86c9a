/** Bodies for the measurements: requests of a chat application, and responses of an OpenAI-compatible server. */

/** Chunks of one streamed response, without `[DONE]`. */
export const chunksPerStream = 100;

/** Sent to every server, so that all get the same bytes; only the gateway reads the key. */
export const apiKey = 'bench-key-0123456789abcdef';

const head = { id: 'chatcmpl-BeNcHmArK0123456789abcdef', created: 1_790_000_000, model: 'bench-model-2026-08-06' };
/**
 * The same for all requests. Enough for the text of the large ones: a count that cannot be true makes the gateway count
 * the tokens itself, which takes ten times as long as the rest of the request.
 */
const usage = {
  prompt_tokens: 412,
  completion_tokens: 98,
  total_tokens: 510,
  prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

const instructions =
  'You are the assistant of a travel agency. Answer in the language of the question, in at most three sentences, and ' +
  'say how sure you are of each fact. When a question is about something other than travel, offer to help with a ' +
  'journey instead. Never invent connections, prices or opening hours: where you do not know them, say where to look ' +
  'them up. Prefer trains to flights, and name the changes a journey needs.';
const question =
  'We are two adults and a child of six and want to spend a long weekend in late September between Lyon and Turin, by ' +
  'train, without changing more than once. The child likes castles and cable cars. — Nous lisons aussi le français.';

/**
 * A chat request of four messages, about 1 KB plus `extraBytes` of attached text. The model is in the catalogue of
 * `gateway-options.ts`.
 * @returns the JSON text
 */
export function chatRequest({
  stream = false,
  extraBytes = 0,
}: {
  stream?: boolean;
  extraBytes?: number;
} = {}): string {
  return JSON.stringify({
    model: 'bench/model-25',
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: question + '\n'.repeat(Math.min(extraBytes, 1)) + text(extraBytes) },
      // In turns, as every server takes them: what has to be joined is measured where it is joined.
      { role: 'assistant', content: 'With pleasure. Is a night in the mountains welcome?' },
      { role: 'user', content: 'Which two places would you suggest, and why? Keep it short, please.' },
    ],
    temperature: 0.7,
    top_p: 0.95,
    max_tokens: 400,
    seed: 7,
    user: 'customer-4711',
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

/** The upstream's JSON response, about 600 bytes. */
export const chatResponse: string = JSON.stringify({
  id: head.id,
  object: 'chat.completion',
  created: head.created,
  model: head.model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text(140), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
  service_tier: 'default',
  system_fingerprint: 'fp_be9c4a1d20',
});

/** The events of the upstream's streamed response; the last is `[DONE]`. */
export const chatEvents: readonly string[] = [
  chunk({ role: 'assistant', content: '', refusal: null }, null),
  ...Array.from({ length: chunksPerStream - 3 }, (_, at) => chunk({ content: word(at) }, null)),
  chunk({}, 'stop'),
  event({ ...chunkHead(), choices: [], usage }),
  'data: [DONE]\n\n',
];

function chunk(delta: object, finishReason: string | null): string {
  return event({
    ...chunkHead(),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
  });
}

function chunkHead(): object {
  const { id, created, model } = head;
  const tier = { service_tier: 'default', system_fingerprint: 'fp_be9c4a1d20' };
  return { id, object: 'chat.completion.chunk', created, model, ...tier };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Tokens differ in length; some need escaping or more than one byte per character. */
function word(at: number): string {
  const words = [' the', ' valley', ' of', ' Aosta', ',', ' château', ' and', ' a', ' "quiet"', ' evening', '.\n'];
  return words[at % words.length] ?? '';
}

function text(bytes: number): string {
  return 'The line follows the river, passes two castles and ends below the cable car. '
    .repeat(Math.ceil(bytes / 77))
    .slice(0, bytes);
}

import type { GatewayOptions } from '../../src/index.ts';
import { CliError, defaultOptions, loadConfig, UsageError } from './config.ts';
import { missingKeyFor, sandboxHint } from './missing-key.ts';
import { openGateway } from './open-gateway.ts';
import { baseUrlOf, keyOf, runningUrl } from './remote/address.ts';
import { errorOf, reasonOf } from './remote/failure.ts';
import type { Terminal } from './terminal.ts';
import { showWaiting } from './waiting.ts';

export interface ChatFlags {
  model?: string;
  config?: string;
  url?: string;
  key?: string;
}

/** Sends a request to a gateway in this process, or to one that is already running. */
type Ask = (request: Request) => Promise<Response>;

/**
 * Sends one message and prints the response as it arrives.
 * @throws CliError for an error of the gateway, and for a response that broke off
 */
export async function chat(terminal: Terminal, message: string | undefined, flags: ChatFlags): Promise<void> {
  if (!message) throw new UsageError('Expected a message: model-gateway chat "Hello"');
  const url = runningUrl(terminal.env, flags);
  if (url !== undefined) {
    const base = baseUrlOf(url);
    const authorization = `Bearer ${keyOf(terminal.env, flags.key)}`;
    await send(terminal, message, flags.model ?? 'sandbox/lorem', base, { authorization }, fetch);
    return;
  }
  const given = flags.config === undefined ? defaultOptions(terminal.env) : await loadConfig(flags.config);
  const model = flags.model ?? defaultModel(given);
  const missing = missingKeyFor(model, given);
  if (missing !== null) throw new CliError(missing);
  const hint = flags.model === undefined && flags.config === undefined ? sandboxHint(given) : null;
  if (hint !== null) terminal.printError(`${hint}\n`);
  // Nobody else asks, and nothing is kept.
  const { apiKeys: _, store: _store, ...options } = given;
  const gateway = openGateway({ ...options, basePath: '/v1', authenticate: 'host' });
  try {
    const { fetch: ask } = gateway.as({ permissions: ['inference'] });
    await send(terminal, message, model, 'http://model-gateway/v1', {}, ask);
  } finally {
    await gateway.close();
  }
}

async function send(
  terminal: Terminal,
  message: string,
  model: string,
  url: string,
  headers: Record<string, string>,
  ask: Ask,
): Promise<void> {
  const client = new AbortController();
  terminal.onStop(() => client.abort());
  const request = new Request(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: message }] }),
    signal: client.signal,
  });
  terminal.printError(`${model}:\n`);
  const waiting = showWaiting(terminal, 'Waiting for the first words');
  try {
    const response = await ask(request);
    if (!response.ok) throw new CliError(await errorOf(response));
    for await (const text of textsOf(response)) {
      waiting.end();
      terminal.print(text);
    }
    terminal.print('\n');
  } catch (error) {
    // The user who has stopped the command knows why it ends.
    if (client.signal.aborted) return;
    if (error instanceof CliError) throw error;
    throw new CliError(`No response from ${url}: ${reasonOf(error)}`);
  } finally {
    waiting.end();
  }
}

function defaultModel({ defaultModel: named, models, providers = {} }: GatewayOptions): string {
  const first = named ?? models?.[0]?.slug ?? ('sandbox' in providers ? 'sandbox/lorem' : null);
  if (first !== null) return first;
  throw new UsageError('Name a model: model-gateway chat --model author/model "Hello"');
}

/** @throws CliError where the stream reports an error, or breaks off */
async function* textsOf(response: Response): AsyncGenerator<string> {
  let buffered = '';
  let isComplete = false;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    buffered += decoder.decode(bytes, { stream: true });
    const events = buffered.split('\n\n');
    buffered = events.pop() ?? '';
    for (const event of events) {
      const data = event.startsWith('data: ') ? event.slice(6) : null;
      if (data === '[DONE]') isComplete = true;
      else if (data !== null) {
        const { error, choices } = JSON.parse(data);
        if (error) throw new CliError(`\n${error.code}: ${error.message}`);
        const text: unknown = choices?.[0]?.delta?.content;
        if (typeof text === 'string') yield text;
      }
    }
  }
  if (!isComplete) throw new CliError('\nThe response broke off.');
}

// Google's own client library.
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { GoogleGenAI } from '@google/genai';
import { apiKey } from '../upstreams/gateway.mjs';
import { cities, forecast, greeting, prompt, thoughtAt, weatherIn } from '../upstreams/weather.mjs';

const parameters = { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] };
const tools = [{ functionDeclarations: [{ name: 'get_weather', parameters }] }];
const config = { thinkingConfig: { includeThoughts: true } };

const ask = (client, body, isStreamed) =>
  isStreamed
    ? client.models.generateContentStream(body).then((stream) => Array.fromAsync(stream))
    : client.models.generateContent(body).then((made) => [made]);
const textOf = (chunks) => chunks.map(({ text }) => text ?? '').join('');
const thoughtOf = (chunks) =>
  chunks.flatMap(({ candidates: [{ content }] }) => content?.parts ?? []).map((one) => (one.thought ? one.text : ''));

/** @returns checks of one model */
export function sdkChecks({ root, upstream, dialect }) {
  const model = `acme/${dialect}`;
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: root } });
  const steps = (expected) => deepEqual([upstream.steps, upstream.problems], [expected, []]);
  return {
    async 'a text, whole and streamed'() {
      for (const isStreamed of [false, true]) {
        const chunks = await ask(client, { model, contents: 'Hi', config }, isStreamed);
        const last = chunks.at(-1);
        const { promptTokenCount, cachedContentTokenCount, totalTokenCount } = last.usageMetadata;
        deepEqual([textOf(chunks), thoughtOf(chunks).join('')], [greeting, thoughtAt('greet')]);
        equal(last.candidates[0].finishReason, 'STOP');
        deepEqual([promptTokenCount, cachedContentTokenCount, totalTokenCount], [1_000, 100, 1_040]);
      }
      steps(['greet', 'greet']);
    },
    async 'two calls in a chat, their responses and the answer, whole and streamed'() {
      for (const isStreamed of [false, true]) {
        const chat = client.chats.create({ model, config: { ...config, tools } });
        const say = async (message) => {
          if (!isStreamed) return [await chat.sendMessage({ message })];
          return Array.fromAsync(await chat.sendMessageStream({ message }));
        };
        const calls = (await say(prompt)).flatMap(({ functionCalls = [] }) => functionCalls);
        deepEqual(
          calls.map(({ args }) => args.city),
          cities,
        );
        const responses = calls.map(({ id, name, args }) => {
          return { functionResponse: { id, name, response: { output: weatherIn(args.city) } } };
        });
        equal(textOf(await say(responses)), forecast);
      }
      steps(['call', 'answer', 'call', 'answer']);
    },
    async 'an overloaded model is asked again'() {
      for (const isStreamed of [false, true]) {
        upstream.begin({ greet: 'overloaded' });
        equal(textOf(await ask(client, { model, contents: 'Hi' }, isStreamed)), greeting);
      }
      steps(['greet: overloaded', 'greet']);
    },
    async 'a stream that breaks off is an error, and has neither an end nor a call'() {
      for (const step of ['greet', 'call']) {
        upstream.begin({ [step]: 'cut' });
        const body = { model, contents: step === 'call' ? prompt : 'Hi', config: { ...config, tools } };
        const chunks = [];
        const read = async () => {
          for await (const chunk of await client.models.generateContentStream(body)) chunks.push(chunk);
        };
        // By its status a client knows whether to ask again.
        await rejects(read(), { name: 'ApiError', status: 502 });
        deepEqual([...new Set(chunks.map(({ candidates: [one] }) => one.finishReason))].filter(Boolean), []);
        deepEqual(
          chunks.flatMap(({ functionCalls = [] }) => functionCalls),
          [],
        );
      }
    },
  };
}

/** @returns checks of one address of the service, which need no more than one model */
export function serviceChecks(httpOptions) {
  const model = 'acme/chat';
  const client = new GoogleGenAI({ apiKey, httpOptions });
  return {
    async 'a text by each name of a model'() {
      for (const asked of [model, `models/${model}`, 'gemini-chat', 'acme/name:odd']) {
        const made = await client.models.generateContent({ model: asked, contents: 'Hi' });
        equal(made.text, greeting);
        match(made.responseId, /^gen-/);
      }
    },
    async 'a count of tokens'() {
      const { totalTokens } = await client.models.countTokens({ model, contents: 'Hi' });
      equal(totalTokens > 0, true);
    },
    async 'models, page by page, with their aliases'() {
      const names = [];
      for await (const one of await client.models.list({ config: { pageSize: 1 } })) names.push(one.name);
      deepEqual(names.slice(0, 3), ['models/acme/anthropic', 'models/claude-anthropic', 'models/gemini-anthropic']);
      deepEqual([names.length, new Set(names).size], [16, 16]);
      const { inputTokenLimit, supportedActions } = await client.models.get({ model });
      deepEqual(
        [inputTokenLimit, supportedActions],
        [200_000, ['generateContent', 'streamGenerateContent', 'countTokens']],
      );
    },
    async 'an error in its own words'() {
      const refused = client.models.generateContent({ model: 'no/such', contents: 'Hi' });
      await rejects(refused, { name: 'ApiError', status: 400, message: /no\/such/ });
      const stranger = new GoogleGenAI({ apiKey: 'sk-unknown', httpOptions });
      await rejects(stranger.models.generateContent({ model, contents: 'Hi' }), { name: 'ApiError', status: 401 });
    },
  };
}

/** @returns checks of an API key without money: its client asks once, whatever its retries are set to */
export function spentChecks({ root, apiKey, failures }) {
  const retryOptions = { attempts: 3, initialDelay: 0.01 };
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: root, retryOptions } });
  return {
    async 'a spent budget is an error that is not asked again, whole and streamed'() {
      for (const isStreamed of [false, true]) {
        failures.length = 0;
        const asked = ask(client, { model: 'acme/chat', contents: 'Hi' }, isStreamed);
        await rejects(asked, { name: 'ApiError', status: 402, message: /does not cover/ });
        deepEqual(failures, [402]);
      }
    },
  };
}

/** @returns a check that goes from model to model with one conversation: none gets what another has signed */
export function wanderingCheck({ root, upstreams }) {
  return {
    async 'a conversation that changes the model after each answer'() {
      const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: root } });
      const contents = [];
      for (const [dialect, upstream] of [...Object.entries(upstreams), ...Object.entries(upstreams)]) {
        upstream.begin();
        contents.push({ role: 'user', parts: [{ text: 'And now?' }] });
        const chunks = await ask(client, { model: `acme/${dialect}`, contents, config }, true);
        equal(textOf(chunks), greeting);
        contents.push(
          ...chunks.map(({ candidates: [{ content }] }) => content).filter((one) => one?.parts?.length > 0),
        );
        deepEqual(upstream.problems, [], dialect);
      }
    },
  };
}

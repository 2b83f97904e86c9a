import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createCohere } from '@ai-sdk/cohere';
import { createOpenAI } from '@ai-sdk/openai';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embed, embedMany, generateImage, generateSpeech, rerank, transcribe } from 'ai';
import { CohereClientV2 } from 'cohere-ai';
import { toFile } from 'openai';
import { VoyageAIClient } from 'voyageai';
import { errorOf } from './check.mjs';
import { openai } from './connect.mjs';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const documents = ['a red apple', 'something green'];
const spoken = { model: 'sandbox/speech', voice: 'alloy', input: 'Good morning', response_format: 'wav' };

/** @returns the checks of other tasks than chat, by the clients that have them, over the sandbox */
export function taskChecks({ baseURL, apiKey }) {
  const client = openai({ baseURL, apiKey });
  const provider = createOpenAI({ baseURL, apiKey });
  const sound = async () => Buffer.from(await (await client.audio.speech.create(spoken)).arrayBuffer());

  return {
    async 'openai: embeddings, as base64 and as numbers'() {
      const asked = { model: 'sandbox/embed', input: ['a red apple', 'a red pear'] };
      const { data } = await client.embeddings.create(asked);
      const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' });
      deepEqual(data, plain.data);
      equal(data[0].embedding.length, 64);
    },
    async 'openai: moderations, and decisions'() {
      const { results } = await client.moderations.create({ model: 'sandbox/moderations', input: 'violence' });
      equal(results[0].flagged, true);
      const { answers } = await client.decisions.create({
        model: 'sandbox/decisions',
        input: 'The bill is wrong',
        questions: [{ type: 'choice', instructions: 'About', choices: [{ value: 'bill' }, { value: 'tea' }] }],
      });
      equal(answers[0].choice, 'bill');
    },
    async 'openai: images: made, edited, streamed'() {
      const asked = { model: 'sandbox/image', prompt: 'A cat' };
      const { data } = await client.images.generate({ ...asked, n: 2 });
      deepEqual(
        data.map(({ b64_json: text }) => Buffer.from(text, 'base64').subarray(1, 4).toString()),
        ['PNG', 'PNG'],
      );
      const image = await toFile(png, 'cat.png', { type: 'image/png' });
      equal((await client.images.edit({ ...asked, image })).data.length, 1);
      const events = await Array.fromAsync(await client.images.generate({ ...asked, stream: true, partial_images: 1 }));
      deepEqual(
        events.map(({ type }) => type),
        ['image_generation.partial_image', 'image_generation.completed'],
      );
    },
    async 'openai: speech, transcripts and translations'() {
      const wav = await sound();
      equal(wav.subarray(0, 4).toString(), 'RIFF');
      const heard = async (more) => ({ model: 'sandbox/whisper', file: await toFile(wav, 'a.wav'), ...more });
      match((await client.audio.transcriptions.create(await heard())).text, /sandbox has heard/);
      match(await client.audio.translations.create(await heard({ response_format: 'srt' })), /-->/);
      const stream = await client.audio.transcriptions.create(await heard({ stream: true }));
      equal((await Array.fromAsync(stream)).at(-1).type, 'transcript.text.done');
    },
    async 'ai: embed and embedMany'() {
      const model = provider.textEmbeddingModel('sandbox/embed');
      ok((await embed({ model, value: 'a' })).usage.tokens > 0);
      equal((await embedMany({ model, values: ['a', 'b', 'c'] })).embeddings.length, 3);
    },
    async 'ai: generateImage'() {
      const { images } = await generateImage({ model: provider.image('sandbox/image'), prompt: 'A cat', n: 2 });
      deepEqual(
        images.map(({ mediaType }) => mediaType),
        ['image/png', 'image/png'],
      );
    },
    async 'ai: generateSpeech and transcribe'() {
      const model = provider.speech('sandbox/speech');
      const { audio } = await generateSpeech({ model, text: 'Good morning', voice: 'alloy', outputFormat: 'wav' });
      equal(audio.mediaType, 'audio/wav');
      const { text } = await transcribe({ model: provider.transcription('sandbox/whisper'), audio: audio.uint8Array });
      match(text, /sandbox has heard/);
    },
    async 'ai: rerank, by its Cohere provider'() {
      const model = createCohere({ baseURL, apiKey }).reranking('sandbox/rerank');
      const { ranking } = await rerank({ model, query: 'red', documents, topN: 1 });
      deepEqual(
        ranking.map(({ document }) => document),
        ['a red apple'],
      );
    },
    async 'langchain: vectors of documents, and of a query'() {
      const vectors = new OpenAIEmbeddings({ model: 'sandbox/embed', apiKey, configuration: { baseURL } });
      const [apple, green] = await vectors.embedDocuments(documents);
      const query = await vectors.embedQuery('a red apple');
      const near = (other) => query.reduce((sum, one, at) => sum + one * other[at], 0);
      ok(near(apple) > 0.999 && near(green) < near(apple));
    },
    async 'cohere-ai: rerank; its other shapes are not served, and it is told so'() {
      const cohere = new CohereClientV2({ token: apiKey, environment: baseURL.replace(/\/v1$/, '') });
      const asked = { model: 'sandbox/rerank', query: 'red', documents, topN: 1 };
      const { results, meta } = await cohere.rerank(asked);
      deepEqual([results[0].index, meta.billedUnits.inputTokens > 0], [0, true]);
      const error = await errorOf(
        cohere.embed({ model: 'sandbox/embed', texts: ['a'], inputType: 'search_document', embeddingTypes: ['float'] }),
      );
      equal(error.statusCode, 404);
    },
    async 'voyageai: embed and rerank'() {
      const voyage = new VoyageAIClient({ apiKey, environment: baseURL });
      const { data } = await voyage.embed({ model: 'sandbox/embed', input: ['a', 'b'], inputType: 'document' });
      deepEqual(
        data.map(({ index, embedding }) => [index, embedding.length]),
        [
          [0, 64],
          [1, 64],
        ],
      );
      const ranked = await voyage.rerank({ model: 'sandbox/rerank', query: 'red', documents, topK: 1 });
      deepEqual([ranked.data[0].index, ranked.data.length], [0, 1]);
    },
  };
}

import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { embeddingsQuirks } from './openai.ts';
import { imagesQuirks } from './openai-images.ts';
import { rerankQuirks } from './openai-rerank.ts';
import { speechQuirks } from './speech.ts';
import { transcriptQuirks } from './transcripts.ts';

/** The quirks of a server like OpenAI's for tasks that are not chat. */
export const taskQuirks = lazily(() => ({
  /** The differences of its embeddings. */
  embeddings: embeddingsQuirks().optional(),
  /**
   * false: the provider has no `POST /decisions`, whatever models it serves.
   * @default true
   */
  decisions: z.boolean().optional(),
  /** The differences of its images. */
  images: imagesQuirks().optional(),
  /** The differences of its rerankers. */
  rerank: rerankQuirks().optional(),
  /** The differences of its speech. */
  speech: speechQuirks().optional(),
  /** The differences of its transcripts. */
  transcriptions: transcriptQuirks().optional(),
}));

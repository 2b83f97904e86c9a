import type { Model } from '../../call/model.ts';
import { tasksOfModel } from '../../call/task.ts';
import type { ShownArchitecture } from '../../schema/models/model.ts';

/** Families of models that share a tokenizer, as far as a slug shows; the first match counts. */
const tokenizers: readonly (readonly [name: string, slugs: RegExp])[] = [
  ['GPT', /^openai\//],
  ['Claude', /^anthropic\//],
  ['Gemma', /\/gemma/],
  ['Gemini', /^google\/gemini/],
  ['Grok', /^x-ai\//],
  ['Cohere', /^cohere\//],
  ['Nova', /^amazon\/nova/],
  ['DeepSeek', /^deepseek\//],
  ['Qwen3', /\/qwen-?3/],
  ['Qwen', /\/qwen|\/qwq/],
  ['Mistral', /^mistralai\//],
  ['Llama4', /\/llama-?4/],
  ['Llama3', /\/llama-?3/],
  ['Llama2', /\/llama-?2/],
  ['Yi', /\/yi-/],
  ['RWKV', /\/rwkv/],
  ['PaLM', /\/palm/],
];

export function tokenizerOf(slug: string): string {
  return tokenizers.find(([, slugs]) => slugs.test(slug))?.[0] ?? 'Other';
}

/** The modalities of a model without known ones: every model here can do text. */
const text = ['text'];

export function inputModalities({ inputModalities: known = text }: Model): readonly string[] {
  return known;
}

export function outputModalities(model: Model): readonly string[] {
  if (model.outputModalities !== undefined) return model.outputModalities;
  const tasks = tasksOfModel(model);
  // Without a word for its output, a model is listed by the name of its task.
  if (tasks === null || tasks.includes('chat')) return text;
  return tasks.map((task) => (task === 'images' ? 'image' : task));
}

export function showArchitecture(model: Model): ShownArchitecture {
  const input = [...inputModalities(model)];
  const output = [...outputModalities(model)];
  return {
    modality: `${input.join('+')}->${output.join('+')}`,
    input_modalities: input,
    output_modalities: output,
    tokenizer: tokenizerOf(model.slug),
    instruct_type: null,
  };
}

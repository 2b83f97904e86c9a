import type { TaskName } from '../schema/tasks.ts';
import type { Endpoint, Model } from './model.ts';

/** The tasks of a model that makes an output of this kind. */
const tasksOfOutput: Readonly<Record<string, readonly TaskName[]>> = {
  text: ['chat'],
  image: ['chat', 'images'],
  audio: ['chat'],
  file: ['chat'],
  video: ['chat'],
  embeddings: ['embeddings'],
  rerank: ['rerank'],
  speech: ['speech'],
  transcription: ['transcriptions', 'translations'],
  decisions: ['decisions'],
};

/** Names that tell the task of a model of which nothing else is known; the first match counts. */
const namesOfTasks: readonly (readonly [RegExp, readonly TaskName[]])[] = [
  [/rerank/i, ['rerank']],
  [/embed|(?:^|\/)voyage-/i, ['embeddings']],
  [/moderation/i, ['moderations']],
  [/whisper/i, ['transcriptions', 'translations']],
  [/transcri/i, ['transcriptions']],
  [/(?:^|[/-])tts(?:-|$)|orpheus|kokoro/i, ['speech']],
  [/(?:^|\/)(?:chat)?gpt-image|dall-e|(?:^|\/)imagen|(?:^|\/)flux|stable-diffusion/i, ['images']],
  [/-image(?:-|$)/i, ['chat', 'images']],
];

/** Models that write, and serve another task too. */
const alsoServed: readonly (readonly [RegExp, TaskName])[] = [[/(?:^|\/)gpt-6-luna$/, 'decisions']];

/** The tasks of each model: a plan asks for them with every request. */
const known = new WeakMap<object, readonly TaskName[] | null>();

/**
 * Returns the tasks of a model: by its kinds of output; else by a name that tells, such as `text-embedding-3-small`.
 * @returns null: not known
 */
export function tasksOfModel(model: Pick<Model, 'slug' | 'outputModalities'>): readonly TaskName[] | null {
  const found = known.get(model);
  if (found !== undefined) return found;
  const tasks =
    model.outputModalities === undefined ? tasksByName(model.slug) : tasksByOutput(model.slug, model.outputModalities);
  known.set(model, tasks);
  return tasks;
}

function tasksByOutput(slug: string, kinds: readonly string[]): readonly TaskName[] {
  const tasks = [...new Set(kinds.flatMap((kind) => tasksOfOutput[kind] ?? []))];
  for (const [pattern, task] of alsoServed) if (pattern.test(slug)) tasks.push(task);
  // A model that makes images alone may have no interface of chat. Its name tells.
  const isAlone = tasks.includes('images') && !kinds.includes('text') && tasksByName(slug)?.includes('chat') === false;
  return isAlone ? tasks.filter((task) => task !== 'chat') : tasks;
}

/** Returns the tasks that the name of a model tells. @returns null: the name tells none */
export function tasksByName(name: string): readonly TaskName[] | null {
  for (const [pattern, tasks] of namesOfTasks) if (pattern.test(name)) return tasks;
  return null;
}

/**
 * Tells whether an endpoint may serve a task: by its own list; else by what is known of its model. A model of which
 * nothing is known may serve chat, and any other task unless its endpoint has a price of output: then it writes.
 * @param ofModel  the result of `tasksOfModel`
 */
export function mayServe(task: TaskName, { tasks, pricing }: Endpoint, ofModel: readonly TaskName[] | null): boolean {
  const known = tasks ?? ofModel;
  if (known !== null) return known.includes(task);
  return task === 'chat' || !pricing?.completionPicoUsd;
}

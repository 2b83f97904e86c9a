/**
 * The kinds of requests. `chat` is every request whose response is a message, whatever wire format it came in. Each of
 * the others has operations, a request and a result of its own.
 */
export const taskNames = [
  'chat',
  'embeddings',
  'rerank',
  'moderations',
  'decisions',
  'images',
  'speech',
  'transcriptions',
  'translations',
] as const;

/** The kind of a request. */
export type TaskName = (typeof taskNames)[number];

/** A task that is not chat. */
export type OtherTask = Exclude<TaskName, 'chat'>;

/** All schemas of chat completions except streaming chunks, which are in chunk.ts. */
export * from './chat-request.ts';
export * from './chat-result.ts';
export * from './message.ts';
export * from './part.ts';
export * from './tool.ts';
export * from './usage.ts';

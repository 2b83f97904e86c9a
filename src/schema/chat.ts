/** Everything of the chat completion wire, by one name. Streaming chunks are in chunk.ts. */
export * from './chat-request.ts';
export * from './chat-result.ts';
export * from './message.ts';
export * from './part.ts';
export * from './tool.ts';
export * from './usage.ts';

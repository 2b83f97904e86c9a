/** All schemas of chat completions except streaming chunks, which are in chunk.ts. */

export * from './message.ts';
export * from './part.ts';
export * from './request.ts';
export * from './result.ts';
export * from './tool.ts';
export * from './usage.ts';

/** All schemas of Responses requests. */
export * from './contradictions.ts';
export * from './hosted.ts';
export * from './issues.ts';
export * from './items.ts';
export * from './parts.ts';
export * from './request.ts';
export * from './tools.ts';

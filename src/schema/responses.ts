/** All schemas of Responses requests. */
export * from './responses/contradictions.ts';
export * from './responses/hosted.ts';
export * from './responses/issues.ts';
export * from './responses/items.ts';
export * from './responses/parts.ts';
export * from './responses/request.ts';
export * from './responses/tools.ts';

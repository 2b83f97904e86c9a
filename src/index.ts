export type { Gateway, HandleContext } from './gateway.ts';

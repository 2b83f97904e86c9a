/** The stage between a request and the dialect that writes it for a provider. */

export { resultWithOwnNames, withOwnNames } from './back.ts';
export { encodeFitted } from './encode.ts';
export { type Fitted, fitRequest } from './fit.ts';
export type { Profile, TextRule } from './profile.ts';
export * as profiles from './profile.ts';

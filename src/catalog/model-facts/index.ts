/** What single models take and refuse, as data, and a request without what its model refuses. */

export type { ModelFact, RefusedField } from './fact.ts';
export { factsOf, findFacts, type KnownFacts, modelFacts } from './find.ts';
export { type FittedRequest, fitToModel } from './fit-to-model.ts';
export { refusedBy, withFacts } from './use.ts';

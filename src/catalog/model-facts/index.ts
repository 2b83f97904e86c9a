/** Facts of single models, as data, and requests without what their models refuse. */

export type { ModelFact } from './fact.ts';
export { factsOf, findFacts, type KnownFacts, modelFacts } from './find.ts';
export { type FittedRequest, fitToModel } from './fit-to-model.ts';
export { refusedBy, withFacts } from './use.ts';

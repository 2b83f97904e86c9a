/** The facts of single models, as data, and requests without the parameters that a model refuses. */

export type { ModelFact, RefusedField } from './fact.ts';
export { factsOf, findFacts, type KnownFacts, modelFacts } from './find.ts';
export { type FittedRequest, fitToModel } from './fit-to-model.ts';
export { refusedBy, withFacts } from './use.ts';

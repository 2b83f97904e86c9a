import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../src/schema/chat/chat.ts';
import { validationIssues } from '../../../src/schema/chat/validate.ts';
import { describeWithShared, referenceErrors } from '../../support/reference.ts';
import { chatRequest, clone, damagedBodies, damages, type Json } from './arbitrary.ts';

describe('a valid chat request', () => {
  it('comes out as it came in, whatever it holds', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const body = clone(request);
        const untouched = clone(request);
        const result = chatRequestSchema().safeParse(body);
        expect(result.success ? [] : validationIssues(result.error)).toEqual([]);
        expect(result.data).toEqual(untouched);
        expect(body).toEqual(untouched);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});

/** Where our schema is stricter than the reference; the path is that of our issue. */
const stricter: [path: RegExp, reason: string][] = [
  [
    /^(temperature|top_p|frequency_penalty|presence_penalty|top_logprobs)$/,
    'the contract gives a range, the reference none',
  ],
  [/^metadata/, 'the contract limits number, keys and values, the reference in prose only'],
  [/^max_(completion_)?tokens$/, 'a largest output below one is a mistake, and would make a hold on a budget negative'],
  [
    /^(stop|provider\.(sort|preferred_\w+))/,
    'the reference takes anything here, an artefact of how it writes "or null"',
  ],
  [/^messages\[\d+\]\.content/, 'as above, for assistant messages'],
  [/^provider\.(max_price|sort|preferred_\w+)/, 'preferences are ours and closed, inner objects included'],
  [/^tool_choice\.function/, 'the reference takes { type: "function" } without a name, as the choice of a server tool'],
  [/^reasoning\.(max_tokens|exclude|enabled)$/, 'documented, but not in the reference'],
  [
    /^plugins\[\d+\]\.(max_\w+|enabled)$/,
    'zero searches or fetches; moderation and web-fetch have no enabled in the reference',
  ],
  [/^plugins\[\d+\]\.tools\[\d+\]\.parameters$/, 'the reference takes the same, through another union'],
];

/** Anywhere: such an integer has lost digits before we see it, and would reach the upstream as another number. */
const beyondSafeInteger = /9007199254740991$/;

/** Where the reference is stricter; the path is a JSON pointer into the body. */
const laxer: [path: RegExp, reason: string][] = [
  [/^\/route$/, 'the contract says object, the reference string or null: all are taken'],
  [/^\/stop_server_tools_when$/, 'the contract says object, the reference list: both are taken'],
  [/^\/messages\/\d+\/reasoning_details\/\d+\/format$/, 'a later format must survive the echo of a conversation'],
  [/^\/tools\/\d+/, "server tools of any brand; their parameters are the tool's to check"],
  [/^\/provider\/max_price/, 'the reference wants strings, its documentation shows numbers: both are taken'],
];

describeWithShared('chat requests, against the reference', () => {
  it('valid ones are valid there', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        expect(referenceErrors('ChatRequest', clone(request))).toEqual([]);
      }),
      { numRuns: 300, seed: 2 },
    );
  });

  it('damaged ones are refused by both or taken by both, but for the listed exceptions', () => {
    const seen = { bothRefuse: 0, bothTake: 0, excused: 0 };
    fc.assert(
      fc.property(chatRequest, damages, (request, ways) => {
        for (const body of damagedBodies(request, ways)) seen[compare(body)] += 1;
      }),
      { numRuns: 80, seed: 3 },
    );
    expect(seen.bothRefuse).toBeGreaterThan(300);
    expect(seen.bothTake).toBeGreaterThan(300);
  });
});

/** @throws AssertionError when one schema refuses what the other takes, without a listed reason */
function compare(body: Json): 'bothRefuse' | 'bothTake' | 'excused' {
  const result = chatRequestSchema().safeParse(body);
  const errors = referenceErrors('ChatRequest', body);
  if (result.success && errors.length === 0) return 'bothTake';
  if (!result.success && errors.length > 0) return 'bothRefuse';
  if (result.success) {
    // A failed union reports all its branches; one place was damaged, so that one excused error says which.
    const excused = errors.some(({ instancePath }) => laxer.some(([path]) => path.test(instancePath)));
    const refusals = errors.map((error) => `${error.instancePath} ${error.message}`);
    expect(excused ? [] : refusals, 'the reference alone refuses').toEqual([]);
  } else {
    const unexcused = validationIssues(result.error).filter(
      (issue) => !beyondSafeInteger.test(issue.message) && !stricter.some(([path]) => path.test(issue.path)),
    );
    expect(unexcused, 'we alone refuse').toEqual([]);
  }
  return 'excused';
}

/**
 * What our schemas say themselves where zod's issue does not say enough. Only these texts are shown to a caller as they
 * are; see `validationIssues`.
 */
export const expectations = {
  /** zod says of a string in an integer's place that it expected a number. */
  integer: 'expected integer',
  decimal: 'expected a decimal number such as "0.5"',
  serverTool: 'expected a server tool such as "service:web_search"',
  functionChoice: 'expected string',
} as const;

const texts = new Set<string>(Object.values(expectations));

/** Adds a text of ours, "expected …"; it must be constant. */
export function expectation(text: `expected ${string}`): string {
  texts.add(text);
  return text;
}

export function isExpectation(message: string): boolean {
  return texts.has(message);
}

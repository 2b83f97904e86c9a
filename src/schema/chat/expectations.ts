/**
 * Messages that our schemas set where zod's issue is not precise enough. Only these texts are shown to a caller
 * unchanged; see `validationIssues`.
 */
export const expectations = {
  /** For a string in place of an integer, zod would report that it expected a number. */
  integer: 'expected integer',
  decimal: 'expected a decimal number such as "0.5"',
  serverTool: 'expected a server tool such as "service:web_search"',
  functionChoice: 'expected string',
} as const;

const texts = new Set<string>(Object.values(expectations));

/** Registers a message of ours; it must be constant. */
export function expectation(text: `expected ${string}`): string {
  texts.add(text);
  return text;
}

export function isExpectation(message: string): boolean {
  return texts.has(message);
}

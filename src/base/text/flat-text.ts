/**
 * The same text as one flat string, for texts that go into every response: docs/performance.md, "Flat strings".
 */
export function flatText(text: string): string {
  return text.split('').join('');
}

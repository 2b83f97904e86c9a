/** Returns JSON in one line, also for those who take the two separators in its texts for ends of lines: some clients do. */
export function oneLine(json: string): string {
  // Most texts have none of them.
  if (!/[\r\n\u2028\u2029]/.test(json)) return json;
  return json
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\u2028\u2029]/g, (found) => (found === '\u2028' ? '\\u2028' : '\\u2029'));
}

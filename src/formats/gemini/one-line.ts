/** Returns JSON in one line, also for those who take the two separators in its texts for ends of lines: some clients do. */
export function oneLine(json: string): string {
  return json.replace(/[\r\n]+|[\u2028\u2029]/g, (found) => {
    if (found === '\u2028') return '\\u2028';
    return found === '\u2029' ? '\\u2029' : ' ';
  });
}

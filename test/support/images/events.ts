/** Reads the events of a stream; `[DONE]` stays a text. */
export function fetchEvents(text: string): (Record<string, unknown> | string)[] {
  return text
    .split('\n\n')
    .flatMap((frame) => frame.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => line.slice(6))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}

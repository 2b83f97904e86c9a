/** Returns the numbers of the pages that hold no text, from 1. */
export function emptyPagesOf(pages: readonly string[]): number[] {
  return pages.flatMap((text, at) => (text.trim() === '' ? [at + 1] : []));
}

/** Returns pages in words, such as `3, 5–7`. */
export function namedPages(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}

/** Returns a statement such as `pages 3, 5–7 hold no text`. */
export function holdNoText(numbers: readonly number[]): string {
  return numbers.length === 1 ? `page ${numbers[0]} holds no text` : `pages ${namedPages(numbers)} hold no text`;
}

/** Makes the note that tells the model which pages it does not see. */
export function noteOf(numbers: readonly number[]): string {
  return `[${holdNoText(numbers)}: they may be pictures, such as scans, and are not shown here]`;
}

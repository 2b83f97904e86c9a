/** Pages whose work grows faster than their length, or that are long, by a number of parts. */
export const costlyPages: Record<string, (parts: number) => string> = {
  'many paragraphs in a deep element': (parts) => `${'<div>'.repeat(100)}${'<p>one'.repeat(parts)}`,
  'elements in elements': (parts) => `${'<div>'.repeat(parts)}one`,
  'elements in elements, which end in comments and attributes alone': (parts) =>
    `${'<div title="</div>"><!--</div>-->'.repeat(parts)}one`,
  'parts of tables and lists': (parts) => `${'<td><li>'.repeat(parts)}one`,
  'quotations in quotations': (parts) => `${'<blockquote>'.repeat(parts)}one`,
  paragraphs: (parts) => '<p>one</p>'.repeat(parts),
  headings: (parts) => '<h1>one</h1>'.repeat(parts),
  links: (parts) => '<p><a href="/x">one</a></p>'.repeat(parts),
  'rows of a table': (parts) => `<table>${'<tr><td>one<td>two'.repeat(parts)}</table>`,
  'items of a list': (parts) => `<ol>${'<li>one'.repeat(parts)}</ol>`,
  comments: (parts) => 'one<!---->'.repeat(parts),
  entities: (parts) => 'one&amp;'.repeat(parts),
  attributes: (parts) => `<p ${Array.from({ length: parts }, (_, at) => `a${at}`).join(' ')}>one`,
  'ends without beginnings': (parts) => `${'<div>'.repeat(50)}one${'</x>'.repeat(parts)}`,
  'a long text in a deep element': (parts) => `${'<div>'.repeat(50)}${'one, '.repeat(parts)}`,
  'a long text': (parts) => `one ${'word, '.repeat(parts)}`,
};

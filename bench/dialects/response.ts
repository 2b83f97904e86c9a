/** The response that the streams of all dialects give, each in the words of its provider. */

/** Events in each stream, so that the streams of all dialects can be compared. */
export const eventsPerStream = 200;

/** What one stream says. */
export interface Response {
  /** Pieces of reasoning. */
  thoughts: readonly string[];
  /** Pieces of text. */
  texts: readonly string[];
  call: {
    id: string;
    name: string;
    /** Pieces of its arguments as JSON. */
    arguments: readonly string[];
  };
  usage: { prompt: number; cached: number; completion: number; reasoning: number };
}

/** Tokens differ in length; some need escaping or more than one byte per character. */
const words = [' the', ' valley', ' of', ' Aosta', ',', ' château', ' and', ' a', ' "quiet"', ' evening', '.\n', ' 🚠'];
const thoughts = [
  ' The',
  ' user',
  ' wants',
  ' trains',
  ',',
  ' so',
  ' I',
  ' should',
  ' look',
  ' for',
  ' “direct”',
  ' ones',
  '.',
];
const argumentPieces = [
  '{"',
  'from',
  '":"',
  'Lyon',
  ' Part',
  '-Dieu',
  '","',
  'to',
  '":"',
  'Torino',
  ' Porta',
  ' Susa',
  '","',
  'changes',
  '":',
  '1',
  '}',
];

/** A response with so many pieces of text. */
export function responseOf(texts: number): Response {
  return {
    thoughts: Array.from({ length: 24 }, (_, at) => thoughts[at % thoughts.length] ?? ''),
    texts: Array.from({ length: texts }, (_, at) => words[at % words.length] ?? ''),
    call: { id: 'call_8Qm2vXr1LtYc7sPd', name: 'find_connections', arguments: argumentPieces },
    usage: { prompt: 412, cached: 128, completion: 230, reasoning: 48 },
  };
}

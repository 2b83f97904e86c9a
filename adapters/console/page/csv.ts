import type { Generation } from './types.ts';

const columns = [
  'id',
  'created_at',
  'outcome',
  'status',
  'requested',
  'model',
  'provider_name',
  'tokens_prompt',
  'native_tokens_cached',
  'tokens_completion',
  'native_tokens_reasoning',
  'latency',
  'total_ms',
  'cost_nano_usd',
  'held_nano_usd',
  'is_byok',
  'external_user',
  'api_key_hash',
  'session_id',
  'workspace_id',
] as const satisfies readonly (keyof Generation)[];

/** Records as CSV (RFC 4180). */
export function csvOf(records: readonly Generation[]): string {
  const lines = records.map((record) => columns.map((name) => cellOf(record[name])).join(','));
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  // A spreadsheet would take a text that begins so for a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Hands a file to the browser. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(url);
}

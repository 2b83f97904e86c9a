import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder, wherever the command was given. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Stamps and reports; may be deleted at any time. */
export const cache = join(root, '.cache');

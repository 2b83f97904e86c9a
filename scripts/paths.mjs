import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder; it does not depend on the working directory. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folder for stamps and reports; it can be deleted at any time. */
export const cache = join(root, '.cache');

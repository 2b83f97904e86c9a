/** zod's compiler. It is loaded when it is needed: it is the largest of zod's files, and most processes end before. */
export { compile } from 'zod';

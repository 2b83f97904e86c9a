/** Flags of Node for a process that a test starts from a source file. The process ends when its channel to the test closes. */
export const childFlags: readonly string[] = [
  '--conditions=model-gateway-source',
  `--import=${new URL('./ends-with-parent.ts', import.meta.url)}`,
];

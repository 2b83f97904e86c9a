/** A key that was opened: all of it, or its parts where its provider asks for several. */
export interface OpenedKey {
  secret: string;
  parts?: Readonly<Record<string, string>>;
}

/** What the text that a workspace brought means to its provider. */
export interface ReadKey {
  key: OpenedKey;
  /** The secret whose ends the label shows. */
  labelled: string;
}

/** @throws GatewayError invalid_request (400), naming the parts that are missing, wrong or unknown */
export type KeyReader = (provider: string, text: string) => ReadKey;

/** For providers whose keys are one string. */
export function plainKey(_provider: string, text: string): ReadKey {
  return { key: { secret: text }, labelled: text };
}

/** A key that was opened: one secret, or also its parts where the provider needs several. */
export interface OpenedKey {
  secret: string;
  parts?: Readonly<Record<string, string>>;
}

/** The meaning that the text of a stored key has for its provider. */
export interface ReadKey {
  /** null: the provider needs something else, which `lacks` names. */
  key: OpenedKey | null;
  /**
   * The parts that are missing, wrong or unknown, each with the expected form; null: the key can be used. Contains no
   * secret.
   */
  lacks: string | null;
  /** The secret whose first and last characters the label shows. */
  labelled: string;
}

export type KeyReader = (provider: string, text: string) => ReadKey;

/** Reads keys that are one string. */
export function plainKey(_provider: string, text: string): ReadKey {
  return { key: { secret: text }, lacks: null, labelled: text };
}

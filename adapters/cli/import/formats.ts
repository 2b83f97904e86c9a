import { importLitellm, isLitellm } from './litellm/config.ts';
import type { Mapping } from './mapping.ts';
import { importPortkey, isPortkey } from './portkey/config.ts';
import type { Imported, ImportInput } from './produced.ts';
import { importTensorzero, isTensorzero } from './tensorzero/config.ts';

/** A kind of file that can be imported. */
export interface Format {
  /** The company or program, for people. */
  title: string;
  /** Tells whether a file is of this kind. */
  recognises(file: Mapping): boolean;
  import(input: ImportInput): Promise<Imported> | Imported;
}

/** The name of the kind that is no config file: the source, the settings or a request of a client. */
export const ofClients = 'openrouter';

/** The kinds by the name that `--from` takes. */
export const formats: Readonly<Record<string, Format>> = {
  litellm: {
    title: 'LiteLLM',
    recognises: isLitellm,
    import: importLitellm,
  },
  tensorzero: { title: 'TensorZero', recognises: isTensorzero, import: importTensorzero },
  portkey: { title: 'Portkey', recognises: isPortkey, import: importPortkey },
};

/** What both kinds of certificates are read with. */
import { createHash } from 'node:crypto';
import { UsageError } from '../../errors.ts';
import { planHash } from '../plan.ts';
import { misformed } from './schema.ts';

/** Names become paths. */
export const safeName = /^[a-z0-9]([\w.+-]*[a-z0-9])?$/i;

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const notOne = (why: string): UsageError =>
  new UsageError('NO_CERTIFICATE', why, {
    hint: 'give the file that `--out` wrote, as it is',
  });

/** What a row of either kind says of the certificate that it was made from. */
export interface RecordedRow {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly measuredAt: string;
  readonly kubernetes: string;
  /** Of the nodes that were used, once each. */
  readonly kernels: readonly string[];
  readonly volumeMode: string;
  readonly planHash: string;
  /** Of the whole certificate, beside this file. */
  readonly records: string;
  /** Of its text, unpacked. */
  readonly sha256: string;
}

export const kernelsOf = (nodes: readonly { readonly kernel: string }[]): string[] => [
  ...new Set(nodes.map(({ kernel }) => kernel)),
];

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Sealed {
  readonly kind: string;
  readonly schemaVersion: number;
  readonly plan: object;
  readonly planHash: string;
}

/** Throws UsageError `NO_CERTIFICATE` for another kind or version, and for one that was changed. */
export function readSealed<T extends Sealed>(
  text: string,
  { kind, schemaVersion }: Pick<T, 'kind' | 'schemaVersion'>,
  what: string,
): T {
  const read = parsed(text) as Partial<T> | undefined;
  if (read?.kind !== kind || read.schemaVersion !== schemaVersion) {
    throw notOne(`it is no ${what} of version ${schemaVersion}`);
  }
  const wrong = misformed(read);
  if (wrong !== undefined) throw notOne(`it is not whole: ${wrong}`);
  const certificate = read as T;
  if (planHash(certificate.plan) !== certificate.planHash) {
    throw notOne('its plan is not the one of its hash');
  }
  return certificate;
}

/** Throws UsageError `NO_CERTIFICATE` for a name that is none. */
export function mustBeNames(names: readonly string[]): void {
  for (const name of names) {
    if (!safeName.test(name)) throw notOne(`${JSON.stringify(name)} is no name`);
  }
}

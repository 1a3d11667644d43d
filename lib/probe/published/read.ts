/** What both kinds of certificates are read with: one form, told apart by `kind`. */
import { createHash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { diskModes } from '../../disk-modes/index.ts';
import { UsageError } from '../../errors.ts';
import { readInput, textFileBytes } from '../../input-file.ts';
import { cutCertificateVersion } from '../cut/certificate.ts';
import { cutWays } from '../cut/host.ts';
import { cutRemedies } from '../cut/cut-plan.ts';
import { cutRecordSchema } from '../cut/record.ts';
import { storagePaths } from '../cut/storage-path.ts';
import { planHash, variants } from '../trial-plan.ts';
import { howSure } from '../line.ts';
import { predictionVersion } from '../prediction.ts';
import { certificateVersion } from '../trials/certificate.ts';
import { trialRecordSchema } from '../trials/record.ts';

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
  /** Kernels of the nodes that were used, once each. */
  readonly kernels: readonly string[];
  readonly volumeMode: string;
  readonly planHash: string;
  /** Name of the whole certificate, beside this file. */
  readonly records: string;
  /** Hash of its text, unpacked. */
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

/**
 * The form: what is judged again is described whole; findings and answers are what its writer made of
 * that, and may grow.
 */
const ms = z.number();
const parameters = z.record(z.string(), z.string());
const volumeMode = z.enum(['Block', 'Filesystem']);
const nodes = z.tuple([z.string(), z.string()]);

const refused = z.array(z.object({ what: z.string(), why: z.string() }));
const common = {
  /** Probe that wrote it: version and a hash of its source. */
  forcedetach: z.string(),
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  kubernetes: z.string(),
  /** The writers' node, then the next one's. */
  nodes: z.array(
    z.looseObject({
      ...{ name: z.string(), kernel: z.string(), kubelet: z.string() },
      ...{ osImage: z.string(), runtime: z.string() },
    }),
  ),
  /** Hash of `plan`, made before anything else. */
  planHash: z.string().regex(/^[0-9a-f]{16}$/),
  findings: z.array(
    z.looseObject({
      name: z.string(),
      outcome: z.string(),
      why: z.string(),
      next: z.looseObject({}),
    }),
  ),
  /** What could not be read, and so has no part in it. */
  refused: refused.optional(),
  /** What could not be removed afterwards. */
  left: z.string().optional(),
};

const planOfTrials = z.looseObject({
  ...{ storageClass: z.string(), nodes, trials: z.number(), volumeMode, size: z.string() },
  ...{ horizonMs: ms, image: z.string(), writeEveryMs: ms },
  list: z.array(z.object({ name: z.string(), variant: z.enum(variants) })),
});

const ofTrials = z.looseObject({
  schemaVersion: z.literal(certificateVersion),
  kind: z.literal('detach-certificate'),
  ...common,
  driver: z.object({ name: z.string(), images: z.array(z.string()) }),
  storageClass: z.object({ name: z.string(), parameters, binding: z.string() }),
  plan: planOfTrials,
  noBlock: z.string().optional(),
  predicted: z.string().nullable(),
  answer: z.looseObject({ modes: z.array(z.string()), notes: z.array(z.string()) }),
  /** Findings on pods that were deleted by force, where there were such trials. */
  forceDeleted: z
    .looseObject({ notes: z.array(z.string()), findings: z.array(z.looseObject({})) })
    .optional(),
  trials: z.array(trialRecordSchema),
});

const ofCut = z.looseObject({
  schemaVersion: z.literal(cutCertificateVersion),
  kind: z.literal('cut-certificate'),
  ...common,
  timers: z.array(z.string()),
  classes: z.array(
    z.looseObject({
      ...{ name: z.string(), driver: z.string(), parameters },
      /** Whether the node still reached its volume. */
      storagePath: z.enum(storagePaths).optional(),
    }),
  ),
  plan: z.looseObject({
    ...{ classes: z.array(z.string()), nodes, volumeMode, size: z.string(), image: z.string() },
    ...{ way: z.enum(cutWays), remedy: z.enum(cutRemedies), healAfterMs: ms, writeEveryMs: ms },
    volumes: z.array(z.object({ name: z.string(), storageClass: z.string() })),
  }),
  record: cutRecordSchema.loose(),
});

/** Nothing was measured. */
const ofReading = z.looseObject({
  schemaVersion: z.literal(predictionVersion),
  kind: z.literal('prediction'),
  ...{ forcedetach: z.string(), askedAt: z.iso.datetime() },
  ...{ storageClass: z.string(), driver: z.string(), kubernetes: z.string() },
  prediction: z.looseObject({
    /** Absent: no document settles it. */
    mode: z.enum([...diskModes, 'local']).optional(),
    sure: z.enum(howSure),
    lines: z.array(
      z.object({
        ...{ what: z.string(), found: z.string(), source: z.string(), sure: z.enum(howSure) },
      }),
    ),
  }),
  /** What trials would do, or why they would be refused. */
  plan: planOfTrials.optional(),
  refusal: z.string().optional(),
  missingRights: z.array(z.string()),
  refused,
});

const certificateSchema = z.discriminatedUnion('kind', [ofTrials, ofCut, ofReading]);

/** Where it is not as it should be, in words; undefined where it is. */
function misformed(value: unknown): string | undefined {
  const { error } = certificateSchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? undefined : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}

export const certificateJsonSchema = (): unknown => z.toJSONSchema(certificateSchema);

/** Whole ones are large, and git holds them. */
export const packed = '.json.zst';

/** Throws as `readInput` does, and where it is no such file or its text is longer than one may be. */
export const unpacked = (path: string): string =>
  zstdDecompressSync(readInput(path), { maxOutputLength: textFileBytes }).toString();

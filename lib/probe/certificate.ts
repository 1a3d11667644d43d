/**
 * What trials, a cut or a prediction leave for others: one form, told apart by `kind`. What is judged again is
 * described whole; findings and answers are what its writer made of that, and may grow. A version of the form
 * changes where a reader of older ones would err.
 */
import { createHash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { diskModes } from '../scenario/index.ts';
import {
  UsageError,
  type Immutable,
  readInput,
  readText,
  textFileBytes,
  harnessVersion,
  sealOf,
} from '../core/index.ts';
import type { AtLeastOne, Facts } from './facts.ts';
import { type CutFinding, storagePaths } from './judge/cut.ts';
import type { JudgedTrials } from './judge/measured.ts';
import { type TrialRecord, cutRecordSchema, trialRecordSchema } from './judge/record.ts';
import {
  type CutPlan,
  type TrialPlan,
  cutRemedies,
  cutWays,
  planHash,
  variants,
  volumeModes,
} from './plan.ts';

/** `read`: looked up on this cluster. `inferred`: concluded. The others are words of drivers.yaml. */
export const howSure = [
  'read',
  'source',
  'documented',
  'reported',
  'not found',
  'inferred',
] as const;
export type HowSure = (typeof howSure)[number];

const ms = z.number();
const parameters = z.record(z.string(), z.string());
const volumeMode = z.enum(volumeModes);
const nodes = z.tuple([z.string(), z.string()]);
const refused = z.array(z.object({ what: z.string(), why: z.string() }));
const node = {
  ...{ name: z.string(), kernel: z.string(), kubelet: z.string() },
  ...{ osImage: z.string(), runtime: z.string() },
};

const common = {
  /** Probe that wrote it: version and a hash of its source. */
  forcedetach: z.string(),
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  kubernetes: z.string(),
  nodes: z.array(z.looseObject(node)),
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
  /** What could not be read, and so has no part in it. Older ones do not say. */
  refused: refused.optional(),
  /** What could not be removed afterwards. */
  left: z.string().optional(),
  /** SHA-256 of all else in it. Older ones have none. */
  seal: z.string().optional(),
};

const planOfTrials = z.looseObject({
  ...{ storageClass: z.string(), nodes, trials: z.number(), volumeMode, size: z.string() },
  ...{ horizonMs: ms, image: z.string(), writeEveryMs: ms },
  list: z.array(z.object({ name: z.string(), variant: z.enum(variants) })),
});

const ofTrials = {
  schemaVersion: z.literal(1),
  kind: z.literal('detach-certificate'),
  ...common,
  driver: z.object({ name: z.string(), images: z.array(z.string()) }),
  storageClass: z.object({ name: z.string(), parameters, binding: z.string() }),
  plan: planOfTrials,
  /** Why volumes were not asked for as raw ones. */
  noBlock: z.string().optional(),
  /** From documents and settings, before the trials. */
  predicted: z.string().nullable(),
  answer: z.looseObject({ modes: z.array(z.string()), notes: z.array(z.string()) }),
  /** Findings on pods that were deleted by force, where there were such trials. */
  forceDeleted: z
    .looseObject({ notes: z.array(z.string()), findings: z.array(z.looseObject({})) })
    .optional(),
  trials: z.array(trialRecordSchema),
};

const classUnderCut = {
  ...{ name: z.string(), driver: z.string(), parameters },
  /** Whether the node still reached its volume. Older ones do not say. */
  storagePath: z.enum(storagePaths).optional(),
};

const ofCut = {
  schemaVersion: z.literal(1),
  kind: z.literal('cut-certificate'),
  ...common,
  /** Timers of the controller manager, where they could be read; empty: the stock ones. */
  timers: z.array(z.string()),
  classes: z.array(z.looseObject(classUnderCut)),
  plan: z.looseObject({
    ...{ classes: z.array(z.string()), nodes, volumeMode, size: z.string(), image: z.string() },
    ...{ way: z.enum(cutWays), remedy: z.enum(cutRemedies), healAfterMs: ms, writeEveryMs: ms },
    volumes: z.array(z.object({ name: z.string(), storageClass: z.string() })),
  }),
  record: cutRecordSchema.loose(),
};

const line = z.object({
  ...{ what: z.string(), found: z.string(), source: z.string(), sure: z.enum(howSure) },
});
export type Line = Readonly<z.output<typeof line>>;

const predicted = {
  /** Absent: no document settles it. */
  mode: z.enum([...diskModes, 'local']).optional(),
  sure: z.enum(howSure),
  lines: z.array(line),
};
export type PredictedMode = Of<typeof predicted>;

const ofReading = {
  schemaVersion: z.literal(1),
  kind: z.literal('prediction'),
  ...{ forcedetach: z.string(), askedAt: z.iso.datetime() },
  ...{ storageClass: z.string(), driver: z.string(), kubernetes: z.string() },
  prediction: z.looseObject(predicted),
  /** What trials would do, or why they would be refused. */
  plan: planOfTrials.optional(),
  refusal: z.string().optional(),
  missingRights: z.array(z.string()),
  /** What it could not read, and so does not rest on. */
  refused,
};

const certificateSchema = z.discriminatedUnion('kind', [
  z.looseObject(ofTrials),
  z.looseObject(ofCut),
  z.looseObject(ofReading),
]);

export const certificateJsonSchema = (): unknown => z.toJSONSchema(certificateSchema);

type Of<Shape extends z.ZodRawShape> = Immutable<z.output<z.ZodObject<Shape>>>;
type Told<Shape extends z.ZodRawShape, Judged> = Omit<Of<Shape>, keyof Judged> & Judged;

type NodeTold = Of<typeof node>;
type Head<Plan> = { readonly plan: Plan; readonly nodes: readonly NodeTold[] };

export type Certificate = Told<
  typeof ofTrials,
  Head<TrialPlan> & JudgedTrials & { readonly trials: readonly TrialRecord[] }
>;
export type CutCertificate = Told<
  typeof ofCut,
  Head<CutPlan> & {
    readonly findings: readonly CutFinding[];
    readonly record: Of<typeof cutRecordSchema.shape>;
    readonly classes: readonly Of<typeof classUnderCut>[];
  }
>;
export type PredictionReport = Told<
  typeof ofReading,
  { readonly prediction: PredictedMode; readonly plan?: TrialPlan | undefined }
>;

/** `beganAt`: of what is over now. The nodes are those of its plan, in its order. */
const headOf = (
  { kubernetes, nodes: all, refused: unread }: Facts,
  plan: Head<object>['plan'] & Pick<TrialPlan, 'nodes'>,
  beganAt: Date,
) => ({
  ...{ forcedetach: harnessVersion(), kubernetes, refused: unread, planHash: planHash(plan) },
  ...{ beganAt: beganAt.toISOString(), endedAt: new Date().toISOString() },
  nodes: plan.nodes
    .flatMap((name) => all.filter((each) => each.name === name))
    .map(({ name, kernel, kubelet, osImage, runtime }) => ({
      ...{ name, kernel, kubelet, osImage, runtime },
    })),
});

interface Parts extends Pick<Certificate, 'plan' | 'noBlock' | 'trials'> {
  readonly facts: Facts;
  readonly beganAt: Date;
  readonly judged: JudgedTrials;
  readonly prediction: PredictedMode;
}

export function certificateOf(parts: Parts): Certificate {
  const { facts, plan, beganAt, trials, judged, prediction, noBlock } = parts;
  const { storageClass, driverPods, driver } = facts;
  const images = driverPods.flatMap(({ containers }) => containers.map(({ image }) => image));
  return {
    ...{ schemaVersion: 1, kind: 'detach-certificate', ...headOf(facts, plan, beganAt) },
    driver: { name: driver, images: [...new Set(images)] },
    storageClass: {
      name: plan.storageClass,
      parameters: storageClass?.parameters ?? {},
      binding: storageClass?.volumeBindingMode ?? 'Immediate',
    },
    ...{ plan, predicted: prediction.mode ?? null, noBlock, ...judged, trials },
  };
}

interface CutParts extends Pick<CutCertificate, 'plan' | 'record' | 'findings'> {
  readonly facts: AtLeastOne<Facts>;
  readonly beganAt: Date;
}

const timing = /grace-period|monitor-period|attach-detach|eviction/;

export function cutCertificateOf(parts: CutParts): CutCertificate {
  const { facts, plan, beganAt, record, findings } = parts;
  const [some] = facts;
  return {
    ...{ schemaVersion: 1, kind: 'cut-certificate', ...headOf(some, plan, beganAt) },
    timers: some.controllerManager?.filter((arg) => timing.test(arg)) ?? [],
    classes: facts.map(({ storageClass, driver }) => {
      const name = storageClass?.metadata?.name ?? '';
      const own = findings.find((each) => each.storageClass === name);
      const storagePath = own?.storagePath ?? 'unknown';
      return { name, driver, parameters: storageClass?.parameters ?? {}, storagePath };
    }),
    ...{ plan, findings, record },
  };
}

/** Whole ones are large, and git holds them. */
export const packed = '.json.zst';

/** Throws as `readInput` does, and where it is no such file or its text is longer than one may be. */
export const unpacked = (path: string): string =>
  zstdDecompressSync(readInput(path), { maxOutputLength: textFileBytes }).toString();

export const certificateText = (path: string): string =>
  path.endsWith(packed) ? unpacked(path) : readText(path);

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const notOne = (why: string, cause?: unknown): UsageError =>
  new UsageError('NO_CERTIFICATE', why, {
    hint: 'give the file that `--out` wrote, as it is',
    cause,
  });

/** Names become paths. */
export const safeName = /^[a-z0-9]([\w.+-]*[a-z0-9])?$/i;

/** Throws UsageError `NO_CERTIFICATE` for another kind or version, and for one that was changed. */
function readSealed<T extends Certificate | CutCertificate>(
  text: string,
  kind: T['kind'],
  what: string,
): T {
  const read = parsed(text) as Partial<T> | undefined;
  if (read?.kind !== kind || read.schemaVersion !== 1)
    throw notOne(`it is no ${what} of version 1`);
  const [issue] = certificateSchema.safeParse(read).error?.issues ?? [];
  if (issue !== undefined) {
    throw notOne(`it is not whole: ${issue.path.join('.') || 'it'}: ${issue.message}`);
  }
  const certificate = read as T;
  if (certificate.seal !== undefined && certificate.seal !== sealOf(certificate))
    throw notOne('it was changed after it was written');
  if (planHash(certificate.plan) === certificate.planHash) return certificate;
  throw notOne('its plan is not the one of its hash');
}

function mustBeNames(names: readonly string[]): void {
  for (const name of names) {
    if (!safeName.test(name)) throw notOne(`${JSON.stringify(name)} is no name`);
  }
}

/** Throws UsageError `NO_CERTIFICATE` for what is none, or was changed after its trials. */
export function readCertificate(text: string): Certificate {
  const certificate = readSealed<Certificate>(text, 'detach-certificate', 'certificate');
  const { plan, trials, storageClass, driver } = certificate;
  const names = (list: readonly { readonly name: string }[]): string =>
    list.map(({ name }) => name).join();
  if (names(plan.list) !== names(trials)) throw notOne('its trials are not those of its plan');
  mustBeNames([driver.name, storageClass.name]);
  return certificate;
}

/** Throws UsageError `NO_CERTIFICATE` for what is none, was changed after the cut, or is of several drivers. */
export function readCutCertificate(text: string): CutCertificate {
  const certificate = readSealed<CutCertificate>(text, 'cut-certificate', 'certificate of a cut');
  const { plan, record, classes } = certificate;
  const names = (list: CutPlan['volumes']): string =>
    list.map(({ name, storageClass }) => `${name} ${storageClass}`).join();
  if (names(plan.volumes) !== names(record.volumes)) {
    throw notOne('its volumes are not those of its plan');
  }
  const drivers = [...new Set(classes.map(({ driver }) => driver))];
  if (drivers.length !== 1) {
    throw notOne(`its classes are of several drivers (${drivers.join(', ')}): cut once for each`);
  }
  mustBeNames([...drivers, ...classes.map(({ name }) => name)]);
  return certificate;
}

/**
 * The form of a certificate, of trials or of a cut: one schema, told apart by `kind`. What is judged again
 * is described whole; findings and answers are what its writer made of that, and may grow.
 */
import { z } from 'zod';
import { cutCertificateVersion } from '../cut/certificate.ts';
import { cutWays } from '../cut/host.ts';
import { cutRemedies } from '../cut/plan.ts';
import { cutRecordSchema } from '../cut/record.ts';
import { variants } from '../plan.ts';
import { certificateVersion } from '../trials/certificate.ts';
import { trialRecordSchema } from '../trials/record.ts';

const ms = z.number();
const parameters = z.record(z.string(), z.string());
const volumeMode = z.enum(['Block', 'Filesystem']);
const nodes = z.tuple([z.string(), z.string()]);

const common = {
  /** Of the probe that wrote it: version and a hash of its source. */
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
  /** Of `plan`, made before anything else. */
  planHash: z.string().regex(/^[0-9a-f]{16}$/),
  findings: z.array(
    z.looseObject({
      name: z.string(),
      outcome: z.string(),
      why: z.string(),
      next: z.looseObject({}),
    }),
  ),
  /** What could not be removed afterwards. */
  left: z.string().optional(),
};

const ofTrials = z.looseObject({
  schemaVersion: z.literal(certificateVersion),
  kind: z.literal('detach-certificate'),
  ...common,
  driver: z.object({ name: z.string(), images: z.array(z.string()) }),
  storageClass: z.object({ name: z.string(), parameters, binding: z.string() }),
  plan: z.looseObject({
    ...{ storageClass: z.string(), nodes, trials: z.number(), volumeMode, size: z.string() },
    ...{ horizonMs: ms, image: z.string(), writeEveryMs: ms },
    list: z.array(z.object({ name: z.string(), variant: z.enum(variants) })),
  }),
  noBlock: z.string().optional(),
  predicted: z.string().nullable(),
  answer: z.looseObject({ modes: z.array(z.string()), notes: z.array(z.string()) }),
  /** Of pods that were deleted by force, where there were such trials. */
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
  classes: z.array(z.looseObject({ name: z.string(), driver: z.string(), parameters })),
  plan: z.looseObject({
    ...{ classes: z.array(z.string()), nodes, volumeMode, size: z.string(), image: z.string() },
    ...{ way: z.enum(cutWays), remedy: z.enum(cutRemedies), healAfterMs: ms, writeEveryMs: ms },
    volumes: z.array(z.object({ name: z.string(), storageClass: z.string() })),
  }),
  record: cutRecordSchema.loose(),
});

const certificateSchema = z.discriminatedUnion('kind', [ofTrials, ofCut]);

/** Where it is not as it should be, in words; undefined where it is. */
export function misformed(value: unknown): string | undefined {
  const { error } = certificateSchema.safeParse(value);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? undefined : `${issue.path.join('.') || 'it'}: ${issue.message}`;
}

export const certificateJsonSchema = (): unknown => z.toJSONSchema(certificateSchema);

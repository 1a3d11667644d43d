/** A scenario: one combination of fault, remedy, disk, workload, rate and timers, validated. */
import { z } from 'zod';
import { databaseFields } from '../database/fields.ts';
import { diskModes, filesystems, powerLosses, storageLinks } from '../disk-kinds.ts';
import { longestMs } from '../durations.ts';
import { UsageError } from '../errors.ts';
import { controlPlaneFaults, faultKinds } from '../fault-kinds.ts';
import { isKubernetes, kubernetesDefault, kubernetesWords } from '../kubernetes-versions.ts';
import { remedyEvents, remedyKinds } from '../remedy-kinds.ts';
import {
  contradictions,
  defaultAlso,
  defaultCpuShare,
  defaultCutAfterMs,
  defaultFlapMs,
  defaultRebootAtMs,
  defaultSelfFenceAfterMs,
} from './contradictions.ts';
import { diskOriginSchema } from './disk-origin.ts';

export const safetyLevels = ['safe', 'exposed', 'lost', 'corrupt'] as const;
export const verdictWords = [...safetyLevels, 'inconclusive'] as const;

/** Independent fault events by their verdict; a word that is not there was never seen. */
const countsSchema = z.partialRecord(z.enum(safetyLevels), z.number().int().positive());
export type Counts = Readonly<z.output<typeof countsSchema>>;

/** Whether somebody is expected to serve after the heal; `open` can't fail. */
export const servingWords = ['yes', 'no', 'open'] as const;

/** As Kubernetes names them; ReadWriteMany is declared, whatever the disk can do. */
export const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'] as const;

/** What makes the database's pod: each with one replica. */
export const workloads = [
  'stateful-set',
  'stateful-set-parallel',
  'deployment-recreate',
  'deployment-rolling-update',
] as const;

export const provisions = ['static', 'dynamic'] as const;

export const selfFences = ['off', 'lease', 'lease-read-only'] as const;

const durationMs = z.number().int().nonnegative().max(longestMs);
/** Where none at all would make no run, or another one: 0 s of horizon, an outage of no length. */
const positiveMs = durationMs.positive();

/** Names become names of folders and of objects. */
const nameLength = 60;
const questionLength = 2000;

const fields = z.strictObject({
  /** Kebab-case; the experiment's name. */
  name: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .max(nameLength),
  /** The question in one sentence, for the report. */
  question: z.string().min(1).max(questionLength),
  fault: z.enum(faultKinds),
  /** The crashed node is started again when the run heals; false leaves it down until the clean-up. */
  reboot: z.boolean().default(true),
  /** `node-reboot` only: when the node boots again. */
  rebootAt: z.union([z.literal('force-detach'), durationMs]).default(defaultRebootAtMs),
  /** `cpu-starvation` only: of one CPU, for all processes of the victim together. */
  cpuShare: z.number().min(0.001).max(1).default(defaultCpuShare),
  /** `flapping-partition` only: off the network for so long, then on it for so long. */
  flapDownMs: positiveMs.default(defaultFlapMs.down),
  flapUpMs: positiveMs.default(defaultFlapMs.up),
  /**
   * The database's process is killed so often just before the fault: from the second time on its
   * kubelet waits before it starts it again, and the fault comes while it waits.
   */
  serverKills: z.number().int().nonnegative().max(5).default(0),
  /** A fault of the control plane beside the first one. */
  also: z.enum(['none', ...controlPlaneFaults]).default('none'),
  /** When: at an event, halfway through the wait for a forced detach, or so long after the fault. */
  alsoAt: z
    .union([z.enum(['terminating', 'pod-gone', 'half-wait', 'force-detach']), durationMs])
    .default(defaultAlso.at),
  /** It is healed so long after that, or with the first one. */
  alsoForMs: positiveMs.default(defaultAlso.forMs),
  remedy: z.enum(remedyKinds).default('none'),
  /** When the remedy acts: at an event, or so long after the fault. */
  remedyAt: z.union([z.enum(remedyEvents), durationMs]).default('terminating'),
  /**
   * When the out-of-service taint is taken away: at the `end`, once a database serves again; at the
   * `heal`; `kept` until the convergence bound is over; or so long after the remedy.
   */
  untaintAt: z.union([z.enum(['end', 'heal', 'kept']), durationMs]).default('end'),
  /** terminationGracePeriodSeconds of the database's pod; 0 makes every deletion a forced one. */
  terminationGraceS: z.number().int().nonnegative().max(3600).default(30),
  /** The pod has a finalizer that nobody takes away by himself. */
  podFinalizer: z.boolean().default(false),
  /** `off`: kube-controller-manager --disable-force-detach-on-timeout (Kubernetes ≥ 1.30). */
  forceDetach: z.enum(['on', 'off']).default('on'),
  /** After the hand-over the successor is drained, and the healed victim gets the volume back. */
  moveBack: z.boolean().default(false),
  /** Instead of waiting for a second mount the pod is deleted so often, and stays on its node. */
  recreations: z.number().int().nonnegative().max(1000).default(0),
  /** A preStop hook sleeps so long before the database is stopped. */
  preStopS: z.number().int().nonnegative().max(3600).default(0),
  /** What makes the pod anew: a StatefulSet, or a Deployment, which does not wait for the old one. */
  workload: z.enum(workloads).default('stateful-set'),
  /**
   * Who makes the volume: nobody, since it is there beforehand, or the official external-provisioner,
   * as on most clusters.
   */
  provision: z.enum(provisions).default('static'),
  /** How the disk answers a detach of a volume in use; see docs/reference/drivers.md. */
  disk: z.enum(diskModes).default('unfenced'),
  /** The certificate of a probe that the disk is taken from. Absent: nobody's, a kind by its name. */
  diskFrom: diskOriginSchema.optional(),
  /** `ack-early` only: the node is cut off so long after the detach was answered. */
  cutAfterMs: durationMs.default(defaultCutAfterMs),
  /** `exclusive` only: whether the driver's question for watchers gets an answer. */
  watcherCheck: z.enum(['works', 'missing']).default('works'),
  /** Whether the storage lets a node attach what it still counts as another node's. */
  attachWhileBusy: z.enum(['refused', 'granted']).default('refused'),
  /** `shared-file` only: one lock table for all nodes, or one a node (NFS mounted with nolock). */
  fileLocks: z.enum(['shared', 'local']).default('shared'),
  /** What a partition does to the victim's path to the disk. */
  link: z.enum(storageLinks).default('survives'),
  filesystem: z.enum(filesystems).default('ext4'),
  /** Of the volume, as Kubernetes is told. */
  accessMode: z.enum(accessModes).default('ReadWriteOnce'),
  /** A disk that ignores flushes acknowledges them and does nothing. */
  flushes: z.enum(['honest', 'ignored']).default('honest'),
  /** What a node's crash does to writes that the disk had acknowledged but not flushed. */
  powerLoss: z.enum(powerLosses).default('keeps'),
  /** Keeps the data of each write, so that experiments/crash-states.mjs can rebuild any moment. */
  keepWrites: z.boolean().default(false),
  /** Acknowledged operations per second and client; `max` as fast as it goes, 0 an idle victim. */
  rate: z.union([z.literal('max'), z.literal(0), z.number().min(0.001).max(100_000)]).default(25),
  /** Connections per client. */
  connections: z.number().int().min(1).max(64).default(2),
  ...databaseFields,
  /**
   * `lease`: a sidecar ends the database once the node's Lease is not renewed, as it can see;
   * `lease-read-only`: it makes the file system read-only as well.
   */
  selfFence: z.enum(selfFences).default('off'),
  /** `selfFence` only: so long after the last renewal that it saw. */
  selfFenceAfterMs: positiveMs.default(defaultSelfFenceAfterMs),
  /** A minor, or a patch of one, which the model takes for its minor. */
  kubernetes: z
    .string()
    .refine(isKubernetes, `no such Kubernetes: ${kubernetesWords}`)
    .default(kubernetesDefault),
  /** Feature gates of all components, on (true) or off. The others are as the version has them. */
  featureGates: z
    .record(
      z
        .string()
        .max(100)
        .regex(/^[A-Z][A-Za-z0-9]+$/, 'no feature gate is written so'),
      z.boolean(),
    )
    .default({}),
  /** node-monitor-grace-period; stock 50 s (Kubernetes ≥ 1.32, #126287). */
  graceMs: positiveMs.default(50_000),
  /** tolerationSeconds of the unreachable taint; stock 300 s (admission plugin). */
  tolerationMs: durationMs.default(300_000),
  /** ReconcilerMaxWaitForUnmountDuration; stock 6 min (attach_detach_controller.go DefaultTimerConfig). */
  forceDetachAfterMs: positiveMs.default(360_000),
  /** Writers run so long before the fault. */
  warmupMs: durationMs.default(10_000),
  /** After the successor's first commits, writers run so long before the first image. */
  overlapMs: durationMs.default(20_000),
  /** A successor that has mounted the volume but commits nothing is watched so much longer. */
  patienceMs: durationMs.default(90_000),
  /** The watch ends so long after the fault at the latest. */
  horizonMs: positiveMs.default(900_000),
  /** After the heal some server must commit again within this bound. */
  convergeMs: positiveMs.default(180_000),
  /** Verdicts that are no surprise. */
  expected: z.array(z.enum(verdictWords)).min(1),
  /**
   * Where chance decides: how many fault events came to each verdict before this run. Fewer than
   * `leastEvents` of them are no expectation: what comes is `open`. Absent where reasoning decides.
   */
  counted: countsSchema.optional(),
  /** Whether a database serves again after the heal; by default as serving-expectation.ts says. */
  expectedServing: z.enum(servingWords).optional(),
});

/** When a fault goes on. */
export type Moment = Scenario['alsoAt'];

export type Scenario = Readonly<z.output<typeof fields>>;
export type ScenarioInput = z.input<typeof fields>;

/** Each field by itself, then whether they fit together. */
export const scenarioSchema = fields.superRefine((scenario, context) => {
  for (const { field, message } of contradictions(scenario)) {
    context.addIssue({ code: 'custom', path: [field], message });
  }
});

/** The stock value of each timer that can be shortened. */
export const stockTimersMs = {
  graceMs: 50_000,
  tolerationMs: 300_000,
  forceDetachAfterMs: 360_000,
};

/** What takes a quarter of an hour with stock timers takes three minutes with these. */
export const shortTimersMs: typeof stockTimersMs = {
  graceMs: 10_000,
  tolerationMs: 10_000,
  forceDetachAfterMs: 30_000,
};

/** Names of the timers that differ from stock in this scenario. */
export function shortenedTimers(scenario: Scenario): string[] {
  return Object.entries(stockTimersMs)
    .filter(([name, stock]) => scenario[name as keyof typeof stockTimersMs] !== stock)
    .map(([name]) => name);
}

/** How far the numbers may be believed: stock timers, shortened ones, or the model. */
export type Basis = 'measured' | 'shortened' | 'predicted';

/** How far the numbers of such a run may be believed. */
export function basisOf(backend: 'kind' | 'sim', scenario: Scenario): Basis {
  if (backend === 'sim') return 'predicted';
  return shortenedTimers(scenario).length > 0 ? 'shortened' : 'measured';
}

/** Validates and completes a scenario. Throws UsageError `SCENARIO_INVALID` with the path of each fault. */
export function parseScenario(input: unknown): Scenario {
  const parsed = scenarioSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    'SCENARIO_INVALID',
    `the scenario is not valid:\n${z.prettifyError(parsed.error)}`,
    {
      hint: 'see docs/reference/scenarios.md for every field and its default',
    },
  );
}

/**
 * How busy the machine was while a real run's times were measured, and what that explains: work of
 * the machine that took longer, never a timer, and never anything that came too soon.
 */
import { timerLagsOf, type Story } from '../../lib/judge/index.ts';
import { observed } from '../../lib/history/index.ts';
import { phaseDefinitions, phaseKey } from './phases.ts';
import { meanOf } from '../../lib/core/index.ts';

/** From the fault to the second image. */
export interface Load {
  /** How late a timer of a second fired at worst. */
  readonly worstLagMs: number;
  /** Mean share of the time in which somebody waited for a processor, percent (PSI `some`). */
  readonly cpuPressure: number;
  /** The same for the disk. */
  readonly ioPressure: number;
  /** Attached to the victim when the fault came: all that are detached at one moment. */
  readonly volumes: number;
}

export function loadOf(story: Story): Load {
  const { records, faultAtMs = 0, secondImageAtMs = Infinity } = story;
  const seen = records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < secondImageAtMs);
  const pressure = (of: 'cpuPressure' | 'ioPressure'): number =>
    seen.length === 0 ? 0 : meanOf(seen.map((record) => record[of] ?? 0));
  return {
    worstLagMs: Math.max(0, ...timerLagsOf(story)),
    cpuPressure: pressure('cpuPressure'),
    ioPressure: pressure('ioPressure'),
    volumes: volumesOn(story, faultAtMs),
  };
}

function volumesOn({ observations, victimNode }: Story, atMs: number): number {
  const seen = observations.findLast(
    ({ t, name, node }) => t <= atMs && name === observed.volumesAttached && node === victimNode,
  );
  const volumes = seen?.data.volumes;
  return Array.isArray(volumes) ? Math.max(1, volumes.length) : 1;
}

/** The runs that the model's times of such work come from had less, percent (reports/samples). */
const busyIoPressure = 33;

/**
 * Why work of the machine may have taken longer than in the model; undefined where nothing explains it.
 * The attacher's client allows itself 5 requests a second after the first 10 (external-attacher
 * --kube-api-qps, --kube-api-burst): with eight volumes its requests are 0.2 s apart in the audit log.
 */
export function busyBecause({ ioPressure, cpuPressure, volumes }: Load): string | undefined {
  const pressure = `somebody waited for the disk ${Math.round(ioPressure)} %, for a processor ${Math.round(cpuPressure)} % of the time`;
  if (volumes > 1) {
    return `load: ${volumes} volumes of one node at once, the attacher’s requests one by one; ${pressure}`;
  }
  return ioPressure > busyIoPressure ? `load: ${pressure}` : undefined;
}

/** The reason why this phase was late; undefined where it is a timer, too late even so, or too soon. */
export function lateBecause(
  {
    phase,
    realS,
    model,
  }: { readonly phase: string; readonly realS: number; readonly model: { readonly to: number } },
  load: Load,
): string | undefined {
  const bound = phaseDefinitions.find((each) => phaseKey(each) === phase)?.busyToS;
  if (bound === undefined || realS <= model.to || realS > bound) return undefined;
  return busyBecause(load);
}

/** On a busy machine a watch reported a change up to 0.2 s late (reports/samples), s. */
const busyWatchS = 0.3;

/** The reason why two steps were recorded in the other order; undefined where they are too far apart. */
export const swappedBecause = (gapS: number, load: Load): string | undefined =>
  gapS <= busyWatchS ? busyBecause(load) : undefined;

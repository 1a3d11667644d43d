/** What the run's own witnesses state: the scenario, the fault that the runner put in place, the testbed, the clock. */
import { type RunRecord, csiCalls, isCall, observationsOf } from '../../history/index.ts';
import {
  cutsClientsOff,
  delaysNotReady,
  isDirectory,
  silencesKubelet,
  stockTimers,
} from '../../scenario/index.ts';
import { faultSpanOf, offSpanOf } from './acts.ts';
import { moment, throughout } from './changes.ts';
import type { Span, Statement } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';

/** Of the victim, while the fault holds by the runner's own steps. */
const faultStates =
  (value: string, holds: (evidence: Evidence) => Span | undefined): Read =>
  (evidence) => {
    const { victimNode: item } = evidence.story;
    const span = holds(evidence);
    return item === undefined || span === undefined || span.toMs <= span.fromMs
      ? undefined
      : { statements: [{ item, value, ...span }] };
  };

/** The node's monitor has heard nothing for the grace period. */
export const faultSilences = faultStates('lost', ({ story }) => {
  const { scenario, setup } = story;
  const span = faultSpanOf(story);
  return span === undefined ||
    setup?.timers === undefined ||
    !silencesKubelet(scenario.fault.kind) ||
    delaysNotReady(scenario.also.kind)
    ? undefined
    : { fromMs: span.beginMs + setup.timers.nodeMonitorGraceMs, toMs: span.toMs };
});

export const faultCutsOff = faultStates('silent', ({ story }) =>
  cutsClientsOff(story.scenario.fault.kind) ? faultSpanOf(story) : undefined,
);

/** A machine that is off, or whose storage hangs on the same cable, writes nothing. */
export const faultCloses = faultStates('closed', ({ story }) => {
  const { link } = story.scenario.fault;
  return offSpanOf(story) ?? (link === 'survives' ? undefined : faultSpanOf(story));
});

/** A machine that is off has nothing mounted. */
export const faultUnmounts = faultStates('not mounted', ({ story }) => offSpanOf(story));

/** By what its backend declared, never by its name: whoever is real has to show it all. */
export const isPredicted = ({ basis }: RunRecord): boolean => basis === 'predicted';

// Settings: the whole run has one value of each.

const settled = (values: Readonly<Record<string, unknown>>): Statement[] =>
  throughout(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([item, value]) => [item, String(value)] as const),
  );

/** `1.37.2` → `1.37`. */
const minorOf = (version: string | undefined): string | undefined =>
  version?.split('.').slice(0, 2).join('.');

export const scenarioSettings: Read = (evidence) => {
  const { disk, volume, timers, kubernetes } = evidence.story.scenario;
  const { mode: detachMode, cutAfter: cutAfterMs, ...rest } = disk;
  const ofDisk = {
    detachMode,
    cutAfterMs,
    ...rest,
    mkfs: volume.filesystem === 'ext4-mmp' ? 'mmp' : 'plain',
  };
  const settings = {
    ...Object.fromEntries(Object.entries(ofDisk).map(([name, value]) => [`disk ${name}`, value])),
    'file system': isDirectory(disk.mode) ? undefined : volume.filesystem.split('-')[0],
    Kubernetes: minorOf(kubernetes.version),
    'grace period of a node': graceOf(timers.grace, kubernetes.version),
    'toleration of a lost node': timers.toleration,
    'wait before a forced detach':
      timers.forceDetach === 'on' ? timers.forceDetachAfter : undefined,
  };
  return { statements: settled(settings) };
};

/** Stock was 40 s before 1.32 (nodelifecycle/config/v1alpha1/defaults.go, #126287). */
const graceOf = (graceMs: number, version: string): number =>
  graceMs === stockTimers.grace && Number(version.split('.')[1]) < 32 ? 40_000 : graceMs;

export const setupSettings: Read = (evidence) => {
  const { timers, versions, volume } = evidence.story.setup ?? {};
  const settings = {
    Kubernetes: minorOf(versions?.['kubernetes']),
    'grace period of a node': timers?.nodeMonitorGraceMs,
    'toleration of a lost node': timers?.tolerationMs,
    'wait before a forced detach': timers?.forceDetachAfterMs,
    volume: volume?.volume,
  };
  return { statements: settled(settings) };
};

/** Each call states them: the volume's attributes as the API server gave them to the driver. */
export const driverSettings: Read = (evidence) => {
  const calls = evidence.story.observations.filter(isCall(csiCalls.publish));
  const stages = evidence.story.observations.filter(isCall(csiCalls.stage));
  const statements = [...calls, ...stages].flatMap(({ data }) => {
    const { volumeContext = {}, volumeCapability } = (data.request ?? {}) as VolumeRequest;
    return settled({
      ...Object.fromEntries(
        Object.entries(volumeContext).map(([name, value]) => [`disk ${name}`, value]),
      ),
      'disk detachMode': data.detachMode ?? volumeContext['detachMode'],
      'file system': volumeCapability?.mount?.fsType,
      volume: data.volume,
    });
  });
  return { statements };
};

interface VolumeRequest {
  readonly volumeContext?: Readonly<Record<string, string>>;
  readonly volumeCapability?: { readonly mount?: { readonly fsType?: string } };
}

/** A line of a forced detach has the wait, as Go writes it (reconciler.go): `duration="6m0s"`. */
export const managerSettings: Read = ({ story }) => ({
  statements: observationsOf(story.observations, 'force-detach-log').flatMap(({ data, t }) => {
    const found = / duration="(?:(\d+)h)?(?:(\d+)m)?([\d.]+)s"/.exec(data.line);
    if (found === null) return [];
    const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
    const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000;
    return [moment('wait before a forced detach', String(ms), t)];
  }),
});

/** Observers of the disk name the volume that they see. */
export const observedVolume: Read = ({ story }) => ({
  statements: story.observations
    .filter(
      ({ source, data }) => ['mounts', 'devices'].includes(source) && data.volume !== undefined,
    )
    .map(({ data, t }) => moment('volume', String(data.volume), t)),
});

// The clock: what a run's records have as wall time and as time since its begin keeps its distance.

/** A clock that is set while a run lasts. Processes of one machine differ by milliseconds. */
const clockWithinMs = 2000;

export const clockOfRun: Read = () => ({
  statements: settled({ 'wall clock': 'in step' }),
});

export const clockOfRecords: Read = ({ story }) => {
  const stamps = story.records.flatMap(({ t, wall }) => (wall === undefined ? [] : { t, wall }));
  const [first] = stamps;
  const offMs = stamps.map(({ t, wall }) => ({
    t,
    offMs: wall - t - (first === undefined ? 0 : first.wall - first.t),
  }));
  return {
    statements: offMs
      .filter((each) => Math.abs(each.offMs) > clockWithinMs)
      .map((each) => moment('wall clock', `off by ${Math.round(each.offMs / 1000)} s`, each.t)),
  };
};

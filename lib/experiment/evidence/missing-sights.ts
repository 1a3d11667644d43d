/** What an observer must have seen at least once in any run. */
import { observed, type ObservedName } from '../../history/observations.ts';
import type { Story } from '../../timeline/story.ts';

const movesVolume = new Set<string>([
  observed.podTerminating,
  observed.podGone,
  observed.attachmentDeleting,
  observed.attachmentGone,
  observed.attachmentAttached,
  observed.unmounted,
]);

/** Observers that saw nothing at all were not there: "no second mount" would mean nothing. */
export function missingSights({
  observations,
  scenario,
  run,
  tells,
  faultAtMs = 0,
}: Story): string[] {
  const needed: ObservedName[] = [observed.nodeReady, observed.mounted];
  // A pod that nobody ends leaves the driver nothing to be asked for.
  const hasMoved = observations.some(({ name, t }) => t >= faultAtMs && movesVolume.has(name));
  if (hasMoved) needed.push(observed.csiCall);
  // A shared directory has no device, and a link that survives never changes.
  if (scenario.disk !== 'shared-file') needed.push(observed.deviceWritten);
  if (scenario.link !== 'survives') needed.push(observed.linkChanged);
  const unseen = needed.filter((name) => !observations.some((seen) => seen.name === name));
  const sources = run.backend === 'kind' && tells.allSources ? ofControlPlane : [];
  const mute = sources.filter((from) => !observations.some(({ source }) => source === from));
  return [
    ...unseen.map((name) => `no observer ever saw ${name}`),
    ...mute.map((source) => `the observer of ${source} told nothing in the whole run`),
  ];
}

/** A real control plane tells of its start and of the pod's. */
const ofControlPlane = ['controller-manager', 'audit'];

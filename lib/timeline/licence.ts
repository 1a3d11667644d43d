/** The licence: the chain of recorded decisions that let the second writer in. */
import type { LicenceStep } from '../experiment/verdict.ts';
import type { ObservationRecord } from '../history/events.ts';
import { csiCalls, observed } from '../history/observations.ts';
import { firstAfterFault, type Story } from './story.ts';

interface Link {
  readonly step: string;
  readonly fits: (seen: ObservationRecord, story: Story) => boolean;
}

const onVictim = (seen: ObservationRecord, story: Story): boolean => seen.node === story.victimNode;
const elsewhere = (seen: ObservationRecord, story: Story): boolean =>
  seen.node !== undefined && seen.node !== story.victimNode;
const call = (seen: ObservationRecord, name: string): boolean =>
  seen.name === observed.csiCall && seen.data['call'] === name && seen.data['error'] === undefined;
/** The controller manager's line says why it did not wait (reconciler.go, reconcile). */
const forced = (seen: ObservationRecord, why: string): boolean =>
  seen.name === observed.forceDetachLog && String(seen.data['line']).includes(why);
const tainted = (seen: ObservationRecord, key: string): boolean =>
  seen.name === observed.nodeTaints && JSON.stringify(seen.data['taints']).includes(key);

const detachedBy = (atMs: number, story: Story): boolean =>
  story.observations.some(
    (seen) => seen.name === observed.attachmentGone && onVictim(seen, story) && seen.t <= atMs,
  );

/** In the order in which Kubernetes takes these decisions; those that did not happen are left out. */
const links: readonly Link[] = [
  {
    step: 'the node was declared unreachable',
    fits: (seen, story) =>
      seen.name === observed.nodeReady && onVictim(seen, story) && seen.data['status'] !== 'True',
  },
  {
    step: 'it was tainted unreachable:NoExecute',
    fits: (seen, story) => onVictim(seen, story) && tainted(seen, 'unreachable:NoExecute'),
  },
  {
    step: 'the pod was evicted (it is Terminating)',
    fits: (seen, story) =>
      seen.name === observed.podTerminating && seen.data['uid'] === story.victimUid,
  },
  {
    step: 'the node was tainted out-of-service',
    fits: (seen, story) => onVictim(seen, story) && tainted(seen, 'out-of-service'),
  },
  {
    step: 'the pod object was gone',
    fits: (seen, story) => seen.name === observed.podGone && seen.data['uid'] === story.victimUid,
  },
  {
    step: 'the attach/detach controller gave up waiting for the unmount',
    fits: (seen) => forced(seen, 'maxWaitForUnmountDuration expired'),
  },
  {
    step: 'the attach/detach controller took the taint’s word and did not wait',
    fits: (seen) => forced(seen, 'out-of-service'),
  },
  {
    step: 'the VolumeAttachment was deleted',
    fits: (seen, story) =>
      (seen.name === observed.attachmentDeleting || seen.name === observed.attachmentGone) &&
      onVictim(seen, story),
  },
  {
    step: 'the driver answered the detach',
    fits: (seen, story) => call(seen, csiCalls.unpublish) && onVictim(seen, story),
  },
  {
    step: 'the storage refused the detach: the attachment was uncertain, and kept nobody out',
    fits: (seen, story) =>
      seen.name === observed.csiCall &&
      seen.data['call'] === csiCalls.unpublish &&
      seen.data['error'] !== undefined &&
      onVictim(seen, story),
  },
  {
    step: 'the driver attached the volume elsewhere',
    fits: (seen, story) => call(seen, csiCalls.publish) && elsewhere(seen, story),
  },
  {
    step: 'declared ReadWriteMany, it was attached a second time before it was detached',
    fits: (seen, story) =>
      seen.name === observed.attachmentAttached &&
      elsewhere(seen, story) &&
      story.scenario.accessMode === 'ReadWriteMany' &&
      !detachedBy(seen.t, story),
  },
  {
    step: 'the successor staged it',
    fits: (seen, story) => call(seen, csiCalls.stage) && elsewhere(seen, story),
  },
  {
    step: 'the shared directory, which nothing attaches, was given to the successor',
    fits: (seen, story) =>
      story.scenario.disk === 'shared-file' &&
      call(seen, csiCalls.nodePublish) &&
      elsewhere(seen, story),
  },
  {
    step: 'the volume was mounted a second time',
    fits: (seen, story) => seen.name === observed.mounted && elsewhere(seen, story),
  },
];

/** Empty where no second mount came. */
export function licenceOf(story: Story): LicenceStep[] {
  const { faultAtMs } = story;
  const mounted = firstAfterFault(
    story,
    (seen) => seen.name === observed.mounted && elsewhere(seen, story),
  );
  if (faultAtMs === undefined || mounted === undefined) return [];
  const step = (atMs: number, text: string, source: string, evidence: string): LicenceStep => ({
    atS: Math.round(atMs - faultAtMs) / 1000,
    step: text,
    source,
    evidence,
  });
  const chain = links.flatMap(({ step: text, fits }) => {
    const seen = firstAfterFault(story, (each) => fits(each, story));
    // What came after the mount let nobody in.
    return seen === undefined || seen.t > mounted.t
      ? []
      : [step(seen.t, text, seen.source, evidenceOf(seen))];
  });
  const { remedy } = story;
  if (remedy !== undefined && remedy.t <= mounted.t) {
    chain.push(
      step(remedy.t, `the operator acted: ${remedy.name}`, 'remedy', `on ${remedy.node ?? '?'}`),
    );
  }
  return chain.toSorted((a, b) => a.atS - b.atS);
}

function evidenceOf({ name, node, data }: ObservationRecord): string {
  return `${name}${node === undefined ? '' : ` ${node}`} ${JSON.stringify(data)}`.slice(0, 400);
}

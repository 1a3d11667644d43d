/** What a licence lacks: links without which no volume passes, and whose records are missing. */
import { isDirectory } from '../../scenario/index.ts';
import { observed } from '../../history/index.ts';
import type { LinkName } from './licence-links.ts';
import type { Passage } from './second-mounts.ts';
import { hasAudit, requestFor } from './licence-askers.ts';

interface NeededLinks {
  /** One of them is enough. */
  readonly anyOf: readonly LinkName[];
  readonly gap: string;
  /** Default: always. */
  readonly when?: (passage: Passage) => boolean;
}

/** Nothing attaches or detaches a shared directory. */
const isAttached = ({ story }: Passage): boolean => !isDirectory(story.scenario.disk.mode);
/** Declared ReadWriteMany, a volume is attached elsewhere without a detach. */
const isDetachedFirst = (passage: Passage): boolean =>
  isAttached(passage) && passage.story.scenario.volume.accessMode !== 'ReadWriteMany';
const isStateful = ({ story }: Passage): boolean =>
  story.scenario.workload.kind.startsWith('stateful-set');

/** The volume came, and was not mounted. */
const isMounted = ({ mount }: Passage): boolean => mount.isRefused !== true;

const needs: readonly NeededLinks[] = [
  {
    anyOf: ['podGone'],
    gap: 'no record shows when the old pod was removed',
    when: isStateful,
  },
  {
    anyOf: ['podGone', 'evicted', 'notReady'],
    gap: 'no record shows what became of the old pod',
    when: (passage) => !isStateful(passage),
  },
  {
    anyOf: ['unmounted', 'waitOver', 'taintTaken', 'detachRefused'],
    gap: 'no record shows why the detach did not wait for the unmount',
    when: (passage) => isDetachedFirst(passage) && !deletedByHand(passage),
  },
  {
    anyOf: ['detached'],
    gap: 'no record of a deleted VolumeAttachment',
    when: isDetachedFirst,
  },
  {
    anyOf: ['unpublished', 'detachRefused'],
    gap: 'no record of a ControllerUnpublishVolume',
    when: isDetachedFirst,
  },
  { anyOf: ['published'], gap: 'no record of a ControllerPublishVolume', when: isAttached },
  {
    anyOf: ['staged'],
    gap: 'no record of a NodeStageVolume',
    when: (passage) => isAttached(passage) && isMounted(passage),
  },
  {
    anyOf: ['nodePublished', 'sharedOut'],
    gap: 'no record of a NodePublishVolume',
    when: isMounted,
  },
];

/** Then nobody had to wait: the attach/detach controller takes a missing attachment for a detach. */
function deletedByHand({ story, mount }: Passage): boolean {
  if (!hasAudit(story)) return story.remedy?.name.includes('attachment') === true;
  return story.observations.some(({ name, t, data }) => {
    if (name !== observed.attachmentDeleting || t < mount.sinceMs || t > mount.atMs) return false;
    const object = data.attachment;
    const wanted = { verbs: ['delete'], resources: ['volumeattachments'], object };
    const request = requestFor(story, wanted, mount.sinceMs, t);
    return request !== undefined && !String(request.data.user).includes('attachdetach');
  });
}

export const gapsInChain = (proven: ReadonlySet<LinkName>, passage: Passage): string[] =>
  needs
    .filter(({ when }) => when?.(passage) !== false)
    .filter(({ anyOf }) => !anyOf.some((name) => proven.has(name)))
    .map(({ gap }) => gap);

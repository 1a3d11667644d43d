/**
 * What happens in the model, as integers: for those who follow millions of schedules and need no
 * words. Each comes with a node's index and a volume's, -1 where there is none.
 */

export const notices = {
  nodeReady: 0,
  nodeNotReady: 1,
  taintsChanged: 2,
  nodeDeleted: 3,
  nodeRegistered: 4,
  podCreated: 5,
  podScheduled: 6,
  podRunning: 7,
  podReady: 8,
  podNotReady: 9,
  podTerminating: 10,
  podFailed: 11,
  /** The kubelet says that its containers have ended; it is not unmounted yet. */
  podStopped: 12,
  podGone: 13,
  attachmentCreated: 14,
  attachmentAttached: 15,
  attachmentDeleting: 16,
  attachmentGone: 17,
  /** The storage refused the detach. */
  detachFailed: 18,
  /** Listed in node.status.volumesAttached; taken from it. */
  listed: 19,
  unlisted: 20,
  /** The kubelet reported it in node.status.volumesInUse; no longer. */
  inUse: 21,
  notInUse: 22,
  /** The attach/detach controller starts to want it away; not any more. */
  detachWanted: 23,
  detachUnwanted: 24,
  /** It begins to detach: unmounted, after the six minutes, by the taint. */
  detachBegan: 25,
  forcedByTimeout: 26,
  forcedByTaint: 27,
  /** The live look found it in use: the detach is put off. */
  detachPutOff: 28,
  /** It no longer counts as attached for sure: another node may have it. */
  uncertain: 29,
  multiAttach: 30,
  /** A VolumeAttachment was found missing. */
  attachmentMissed: 31,
  published: 32,
  publishRefused: 33,
  unpublished: 34,
  staged: 35,
  stageRefused: 36,
  /** A pod gets a mount that was already there: NodeStage is not called. */
  stageSkipped: 37,
  /** And that mount is not on the present attachment's path (A→B→A). */
  staleMount: 38,
  unstaged: 39,
  mounted: 40,
  unmounted: 41,
  containerStarted: 42,
  /** Two pods of one database run on one node. */
  sameNodeOverlap: 43,
  controllerEnded: 44,
  controllerLeads: 45,
  kubeletRestarted: 46,
  /** A restarted kubelet does not know a mount any more (#121937). */
  mountForgotten: 47,
  /** A taint's turn was spent on a look that still saw the node Ready. */
  taintTurnLost: 48,
  selfFenced: 49,
  selfFenceOpened: 50,
  cut: 51,
  linkChanged: 52,
  serverStarting: 53,
  serving: 54,
  serverDied: 55,
  serverStopped: 56,
  apiDown: 57,
  apiUp: 58,
  unheard: 59,
  heard: 60,
} as const;

export type NoticeCode = (typeof notices)[keyof typeof notices];

/** By number. */
export const noticeNames: readonly string[] = Object.keys(notices);

export type Notify = (notice: NoticeCode, node: number, volume: number) => void;

/** How long a run waits for what no scenario asks, whoever plays it: with promises, or a sweep without. */

/** So many commits by the successor count as serving; an open port does not. */
export const servingCommits = 5;
/** People wait a while before they give up; drain's own default is for ever. */
export const drainMs = 60_000;
/** For a pod made anew: kubelet gives up waiting for a volume after 2 min 3 s, and tries again. */
export const recreationMs = 300_000;
/** For a server that was killed: the pod's startup probe gives up after this (pod.yaml). */
export const restartMs = 180_000;
/** A kubelet that starts when the remedy is taken back is Ready within this time. */
export const registrationMs = 60_000;

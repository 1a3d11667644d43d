/**
 * What must hold for each claim to be answered, one thing at a time: a half is ticked by the answer
 * that tells it, and one that none tells has its reason.
 */
import type { Measured } from './measured.ts';

interface Half {
  readonly text: string;
  /** What an answer says that tells it; undefined where no answer can. */
  readonly told?: RegExp;
  /** Why it is not ticked. */
  readonly open?: string;
}

/** By the number of the claim. */
export const halves: Readonly<Record<number, readonly Half[]>> = {
  1: [
    { text: 'unmounted before it is detached', told: /unmount to detach \d/ },
    { text: 'detached before it is attached elsewhere', told: /detach to attach \d/ },
    { text: 'attached before it is mounted', told: /attach to mount \d/ },
  ],
  2: [
    { text: 'no attachment without the controller', told: /controller manager: 0 attachments/ },
    {
      text: 'attached, but not mounted, without kubelet',
      told: /kubelet: attached true, pod Pend/,
    },
  ],
  3: [
    { text: 'one kind of driver lets a second node in', told: /unfenced: .* is Running/ },
    { text: 'another refuses it', told: /ControllerPublish refused/ },
  ],
  4: [
    { text: 'the annotation says that the controller attaches', told: /annotation true/ },
    { text: 'the setting takes the annotation away', told: /annotation null/ },
    {
      text: 'kubelet then attaches',
      open: 'refuted for CSI: kubelet refuses, and the pod does not start',
    },
  ],
  5: [
    { text: 'the attachment of a dead node stays while nobody acts', told: /still names it/ },
    { text: 'kubelets race each other for it', open: 'history: with CSI no kubelet attaches (4)' },
  ],
  6: [
    { text: 'no mount before the node’s volumesAttached', told: /s after volumesAttached/ },
    { text: 'in volumesInUse by then', told: /s after volumesInUse/ },
  ],
  7: [
    { text: 'no detach from a Ready node that still has it mounted', told: /beyond the timer/ },
    { text: 'the out-of-service taint passes by', told: /detached it .* still mounted/ },
  ],
  8: [
    { text: 'six minutes, counted from the end of the pod object', told: /gone 36\d\.\d s after/ },
    { text: 'only while the node is not Ready', told: /the node was NodeStatusUnknown/ },
    {
      text: 'log and counter tell of unmounted volumes, too',
      told: /though the log calls it unsafe/,
    },
    {
      text: '`--disable-force-detach-on-timeout` switches it off',
      told: /on-timeout: not detached/,
    },
  ],
  9: [
    { text: 'eviction alone: no second mount in 900 s', told: /period 30 s: .*none in 9\d\d s/ },
    { text: 'so with a Deployment', told: /deployment-\S+, .*none in 9\d\d s/ },
    { text: 'with a grace period of 0 there is one', told: /period 0 s: .*second mount: at/ },
  ],
  10: [
    { text: 'force-delete', told: /^With force-delete: second mount at/ },
    { text: 'the out-of-service taint', told: /^With out-of-service: second mount at/ },
    { text: 'deleting the Node', told: /^With delete-node: second mount at/ },
  ],
  11: [
    { text: 'a node that crashed is given up after the grace', told: /s after the node’s death/ },
    {
      text: 'one that is back within the grace is never given up',
      told: /within the grace .* never declared lost/,
    },
  ],
  12: [
    { text: 'cut off whole, the writer lives on', told: /network-partition\).* [1-9]\d* commits/ },
    { text: 'cut off from the API alone, too', told: /api-partition\).* [1-9]\d* commits/ },
  ],
  13: [
    { text: 'a kubelet that stands still is given up', told: /^kubelet stopped: Ready was lost/ },
    { text: 'its pods run', told: /^kubelet stopped: .* [1-9]\d* commits/ },
    { text: 'one that starves flaps', told: /of a CPU: .* came back [1-9]/ },
  ],
  14: [
    { text: 'the condition becomes Unknown', told: /became Unknown \(NodeStatusUnknown\)/ },
    { text: 'the NoExecute taint comes with it', told: /NoExecute taint came/ },
  ],
  15: [
    { text: 'the flag is refused', told: /unknown flag: --pod-eviction-timeout/ },
    { text: 'the toleration counts', told: /s after the taint/ },
  ],
  16: [
    { text: 'Terminating, while the old process commits', told: /after it .* [1-9]\d* commits/ },
  ],
  17: [{ text: 'two writers do harm', told: /^(lost|corrupt): / }],
  18: [
    {
      text: 'a VolumeAttachment deleted by hand comes back',
      told: /attached it again/,
    },
    { text: 'a restarted controller manager waits anew', told: /new controller manager led/ },
  ],
  19: [
    { text: 'the names', told: /volumesInUse the same name: true/ },
    { text: 'empty before and after', told: /empty of it: true/ },
    { text: 'devicePath is `csi-<hash>`', open: 'changed: it is empty, as expected of CSI' },
  ],
  20: [
    { text: 'how long the new pod takes', told: /running again after/ },
    {
      text: 'now and then one fails to mount',
      told: /failed to mount: [1-9]/,
      open: '0 of 12, so at most 24 % (95 %); no cause is named that could be provoked',
    },
  ],
  21: [
    { text: 'the pod’s directory', told: /kubernetes\.io~csi\/\S+\/mount/ },
    { text: 'the global one, by the handle’s sha256', told: /is the handle’s sha256/ },
  ],
  22: [
    { text: 'a Deployment’s replacement', told: /^deployment.*1 event.*already used by pod/ },
    { text: 'a StatefulSet’s whose pod was removed', told: /^stateful-set: the replacement/ },
    { text: 'a StatefulSet left alone has none', told: /no replacement .* 0 Multi-Attach events/ },
    { text: 'once more in a new controller manager’s life', told: /2 event\(s\)/ },
    { text: 'since 1.37 in other words', told: /Waiting for detach/ },
  ],
  23: [
    { text: 'phase Running until it is removed', told: /showed phase Running/ },
    { text: 'no Unknown, no NodeLost', told: /0 records name NodeLost/ },
  ],
  24: [
    { text: 'a second mount without the error', told: /0 Multi-Attach events/ },
    { text: 'before any detach', told: /before any detach/ },
    {
      text: 'of a Deployment at the eviction, with nobody acting',
      told: /^deployment\S*: second pod/,
    },
    { text: 'ceph-csi refuses such file systems', open: 'from its source; no Ceph runs here' },
  ],
  25: [
    { text: 'a watcher that lives keeps the next node out', told: /^a living watcher .*: none in/ },
    { text: 'a dead host’s is forgotten', told: /^a dead host .*: second mount at/ },
    { text: 'a check without an answer lets nobody in', told: /gets no answer .*: none in/ },
    { text: 'a stalled link loses it, and the writer lives', told: /stalls, .*: second mount at/ },
    {
      text: 'two nodes that check before either maps both get in',
      open: 'never provoked: the race lies between two calls within ceph-csi, and no Ceph runs here',
    },
  ],
  26: [
    { text: 'no attachment, no volumesAttached, no error', told: /0 VolumeAttachments, 0 entries/ },
    { text: 'a second mount once there is a second pod', told: /^stateful-set: second pod/ },
    {
      text: 'of a Deployment at the eviction',
      told: /^deployment\S*: second pod/,
    },
    {
      text: 'leases of a real server, and their end',
      open: 'cannot be run: one kernel’s directory stands for the server',
    },
  ],
  27: [
    { text: 'a used device is not formatted', told: /“ext4”; formatted: false/ },
    {
      text: 'it is checked, which replays the journal',
      told: /fsck ended .* replayed the journal/,
    },
    { text: 'also while the other node has it mounted', told: /victim had it still mounted/ },
    { text: 'a blank one is formatted', open: 'each run begins so; no answer reads it' },
  ],
  28: [
    {
      text: 'attach names a node and no path',
      told: /ControllerPublishVolume: nodeId \S+, path none/,
    },
    { text: 'publish names paths and no node', told: /NodePublishVolume: nodeId none/ },
  ],
  29: [{ text: 'other pods start while one mount hangs', told: /While one NodeStage hung/ }],
  30: [
    { text: 'one stage, two publishes, both run', told: /by 1 NodeStage and 2 NodePublish/ },
    { text: 'ReadWriteOncePod blocks the second', told: /ReadWriteOncePod: Pending/ },
  ],
  31: [
    { text: 'Available, Bound, Released, Available', told: /claimRef removed Available/ },
    { text: 'Lost once the finalizer is gone', told: /finalizer is gone, then Lost/ },
    { text: 'Recycle fails with CSI', told: /Recycle with a CSI volume: Failed/ },
  ],
  32: [
    { text: 'the smallest that is big enough', told: /16, 32 and 64 got the one of 32/ },
    { text: 'WaitForFirstConsumer', told: /Pending without a pod, Bound with one/ },
    { text: 'the provisioner’s annotation', told: /annotated volume\.kubernetes\.io/ },
    {
      text: 'CreateVolume',
      open: 'no answer reads it: `--provision dynamic` has the official external-provisioner make the volume, and without it the volume is there before the run',
    },
  ],
  33: [{ text: 'it stays while the attacher is away', told: /marked for deletion: true/ }],
  34: [
    { text: 'the annotation keeps nothing', told: /kept 0 attachments/ },
    { text: 'the flag is refused', told: /unknown flag: --keep-terminated/ },
  ],
  35: [{ text: 'each second has its step', told: /0\.0 s unexplained/ }],
};

export const isTicked = ({ told }: Half, answers: readonly Measured[]): boolean =>
  told !== undefined && answers.some(({ said, asExpected }) => asExpected && told.test(said));

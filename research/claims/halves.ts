/**
 * What must hold for each claim to be answered, one thing at a time: a half is ticked by the answer
 * that tells it, and one that none tells has its reason.
 */

export type Half = readonly [
  text: string,
  /** What an answer says that tells it; undefined where no answer can. */
  told: RegExp | undefined,
  /** Why it is not ticked. */
  open?: string,
];

/** By the number of the claim. */
export const halves: Readonly<Record<number, readonly Half[]>> = {
  1: [
    ['unmounted before it is detached', /unmount to detach \d/],
    ['detached before it is attached elsewhere', /detach to attach \d/],
    ['attached before it is mounted', /attach to mount \d/],
  ],
  2: [
    ['no attachment without the controller', /controller manager: 0 attachments/],
    ['attached, but not mounted, without kubelet', /kubelet: attached true, pod Pend/],
  ],
  3: [
    ['one kind of driver lets a second node in', /unfenced: .* is Running/],
    ['another refuses it', /ControllerPublish refused/],
  ],
  4: [
    ['the annotation says that the controller attaches', /annotation true/],
    ['the setting takes the annotation away', /annotation null/],
    [
      'kubelet then attaches',
      undefined,
      'refuted for CSI: kubelet refuses, and the pod does not start',
    ],
  ],
  5: [
    ['the attachment of a dead node stays while nobody acts', /still names it/],
    ['kubelets race each other for it', undefined, 'history: with CSI no kubelet attaches (4)'],
  ],
  6: [
    ['no mount before the node’s volumesAttached', /s after volumesAttached/],
    ['in volumesInUse by then', /s after volumesInUse/],
  ],
  7: [
    ['no detach from a Ready node that still has it mounted', /beyond the timer/],
    ['the out-of-service taint passes by', /detached it .* still mounted/],
  ],
  8: [
    ['six minutes, counted from the end of the pod object', /gone 36\d\.\d s after/],
    ['or from the phase of a pod that finished', /Succeeded: gone 3[56]\d.*Failed: gone 3[56]\d/],
    ['only while the node is not Ready', /the node was NodeStatusUnknown/],
    ['log and counter tell of unmounted volumes, too', /though the log calls it unsafe/],
    ['`--disable-force-detach-on-timeout` switches it off', /on-timeout: not detached/],
  ],
  9: [
    ['eviction alone: no second mount in 900 s', /period 30 s: .*none in 9\d\d s/],
    ['so with a Deployment', /deployment-\S+, .*none in 9\d\d s/],
    ['with a grace period of 0 there is one', /period 0 s: .*second mount: at/],
  ],
  10: [
    ['force-delete', /^With force-delete: second mount at/],
    ['the out-of-service taint', /^With out-of-service: second mount at/],
    ['deleting the Node', /^With delete-node: second mount at/],
  ],
  11: [
    ['a node that crashed is given up after the grace', /s after the node’s death/],
    [
      'one that is back within the grace is never given up',
      /within the grace .* never declared lost/,
    ],
  ],
  12: [
    ['cut off whole, the writer lives on', /network-partition\).* [1-9]\d* commits/],
    ['cut off from the API alone, too', /api-partition\).* [1-9]\d* commits/],
  ],
  13: [
    ['a kubelet that stands still is given up', /^kubelet stopped: Ready was lost/],
    ['its pods run', /^kubelet stopped: .* [1-9]\d* commits/],
    ['one that starves flaps', /of a CPU: .* came back [1-9]/],
  ],
  14: [
    ['the condition becomes Unknown', /became Unknown \(NodeStatusUnknown\)/],
    ['the NoExecute taint comes with it', /NoExecute taint came/],
  ],
  15: [
    ['the flag is refused', /unknown flag: --pod-eviction-timeout/],
    ['the toleration counts', /s after the taint/],
  ],
  16: [['Terminating, while the old process commits', /after it .* [1-9]\d* commits/]],
  17: [['two writers do harm', /^(lost|corrupt): /]],
  18: [
    ['a VolumeAttachment deleted by hand comes back', /attached it again/],
    ['a restarted controller manager waits anew', /new controller manager led/],
  ],
  19: [
    ['the names', /volumesInUse the same name: true/],
    ['empty before and after', /empty of it: true/],
    ['devicePath is `csi-<hash>`', undefined, 'changed: it is empty, as expected of CSI'],
  ],
  20: [
    ['how long the new pod takes', /running again after/],
    [
      'now and then one fails to mount',
      /failed to mount: [1-9]/,
      '0 of 12, so at most 24 % (95 %); no cause is named that could be provoked',
    ],
  ],
  21: [
    ['the pod’s directory', /kubernetes\.io~csi\/\S+\/mount/],
    ['the global one, by the handle’s sha256', /is the handle’s sha256/],
  ],
  22: [
    ['a Deployment’s replacement', /^deployment.*1 event.*already used by pod/],
    ['a StatefulSet’s whose pod was removed', /^stateful-set: the replacement/],
    ['a StatefulSet left alone has none', /no replacement .* 0 Multi-Attach events/],
    ['once more in a new controller manager’s life', /2 event\(s\)/],
    ['since 1.37 in other words', /Waiting for detach/],
  ],
  23: [
    ['phase Running until it is removed', /showed phase Running/],
    ['no Unknown, no NodeLost', /0 records name NodeLost/],
  ],
  24: [
    ['a second mount without the error', /0 Multi-Attach events/],
    ['before any detach', /before any detach/],
    ['of a Deployment at the eviction, with nobody acting', /^deployment\S*: second pod/],
    ['ceph-csi refuses such file systems', undefined, 'from its source; no Ceph runs here'],
  ],
  25: [
    ['a watcher that lives keeps the next node out', /^a living watcher .*: none in/],
    ['a dead host’s is forgotten', /^a dead host .*: second mount at/],
    ['a check without an answer lets nobody in', /gets no answer .*: none in/],
    ['a stalled link loses it, and the writer lives', /stalls, .*: second mount at/],
    [
      'two nodes that check before either maps both get in',
      undefined,
      'never provoked: the race lies between two calls within ceph-csi, and no Ceph runs here',
    ],
  ],
  26: [
    ['no attachment, no volumesAttached, no error', /0 VolumeAttachments, 0 entries/],
    ['a second mount once there is a second pod', /^stateful-set: second pod/],
    ['of a Deployment at the eviction', /^deployment\S*: second pod/],
    [
      'leases of a real server, and their end',
      undefined,
      'cannot be run: one kernel’s directory stands for the server',
    ],
  ],
  27: [
    ['a used device is not formatted', /“ext4”; formatted: false/],
    ['it is checked, which replays the journal', /fsck ended .* replayed the journal/],
    ['also while the other node has it mounted', /victim had it still mounted/],
    ['a blank one is formatted', undefined, 'each run begins so; no answer reads it'],
  ],
  28: [
    ['attach names a node and no path', /ControllerPublishVolume: nodeId \S+, path none/],
    ['publish names paths and no node', /NodePublishVolume: nodeId none/],
  ],
  29: [['other pods start while one mount hangs', /While one NodeStage hung/]],
  30: [
    ['one stage, two publishes, both run', /by 1 NodeStage and 2 NodePublish/],
    ['ReadWriteOncePod blocks the second', /ReadWriteOncePod: Pending/],
  ],
  31: [
    ['Available, Bound, Released, Available', /claimRef removed Available/],
    ['Lost once the finalizer is gone', /finalizer is gone, then Lost/],
    ['Recycle fails with CSI', /Recycle with a CSI volume: Failed/],
  ],
  32: [
    ['the smallest that is big enough', /16, 32 and 64 got the one of 32/],
    ['WaitForFirstConsumer', /Pending without a pod, Bound with one/],
    ['the provisioner’s annotation', /annotated volume\.kubernetes\.io/],
    [
      'CreateVolume',
      undefined,
      'no answer reads it: `--provision dynamic` has the official external-provisioner make the volume, and without it the volume is there before the run',
    ],
  ],
  33: [['it stays while the attacher is away', /marked for deletion: true/]],
  34: [
    ['the annotation keeps nothing', /kept 0 attachments/],
    ['the flag is refused', /unknown flag: --keep-terminated/],
  ],
  35: [['each second has its step', /0\.0 s unexplained/]],
};

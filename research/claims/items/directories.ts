/** Claims 21 and 28: where a volume is mounted, and what attach and mount are told. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { callsOf, recordLines } from '../recorded-run.ts';
import type { Claim } from '../claim.ts';

const requestSchema = z.object({
  nodeId: z.string().optional(),
  stagingTargetPath: z.string().optional(),
  targetPath: z.string().optional(),
});

const anyRun = ['network-partition --remedy force-delete'];

/** The model's driver keeps no requests. */
const unwatched = 'no request to the driver was recorded';

export const mountDirectories: Claim = {
  number: 21,
  title: 'Mount directories',
  statement:
    'A volume is mounted at `<kr>/plugins/kubernetes.io/csi/pv/<pv>/globalmount`, then ' +
    'at `<kr>/pods/<uid>/volumes/kubernetes.io~csi/<pv>/mount`.',
  expected:
    'The pod’s directory holds; the global one is now ' +
    '`<kr>/plugins/kubernetes.io/csi/<driver>/<sha256 of the handle>/globalmount`.',
  runs: anyRun,
  read(run) {
    const published = callsOf(run, 'nodePublish')[0];
    if (published?.data.request === undefined) return unwatched;
    const { stagingTargetPath = '', targetPath = '' } = requestSchema.parse(published.data.request);
    const hash = createHash('sha256').update(String(published.data.volume)).digest('hex');
    const global = `/var/lib/kubelet/plugins/kubernetes.io/csi/disk.forcedetach.dev/${hash}/globalmount`;
    const pod =
      /^\/var\/lib\/kubelet\/pods\/[0-9a-f-]{36}\/volumes\/kubernetes\.io~csi\/[^/]+\/mount$/;
    return {
      asExpected: stagingTargetPath === global && pod.test(targetPath),
      said:
        `Global: ${stagingTargetPath} (${stagingTargetPath === global ? 'is' : 'is not'} ` +
        `the handle’s sha256). Pod: ${targetPath}.`,
      evidence: recordLines(run, [published]),
    };
  },
};

export const nodeNameAndDirectory: Claim = {
  number: 28,
  title: 'Attach receives a node, mount a directory',
  statement: 'A plugin’s attach receives the node’s name, its mount a directory.',
  expected: 'Holds: ControllerPublish names a node and no path, NodePublish paths and no node.',
  runs: anyRun,
  read(run) {
    const [attach, mount] = [callsOf(run, 'publish')[0], callsOf(run, 'nodePublish')[0]];
    if (!attach?.data.request || !mount?.data.request) return unwatched;
    const [asked, told] = [attach, mount].map(({ data }) => requestSchema.parse(data.request));
    const split =
      asked?.nodeId !== undefined &&
      asked.targetPath === undefined &&
      told?.targetPath !== undefined &&
      told.nodeId === undefined;
    return {
      asExpected: split,
      said:
        `ControllerPublishVolume: nodeId ${asked?.nodeId ?? 'none'}, path ` +
        `${asked?.targetPath ?? 'none'}. NodePublishVolume: nodeId ` +
        `${told?.nodeId ?? 'none'}, path ` +
        `${told?.targetPath === undefined ? 'none' : 'the pod’s directory'}.`,
      evidence: recordLines(run, [attach, mount]),
    };
  },
};

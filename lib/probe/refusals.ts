/**
 * Why a probe says no, or gives up: of each code what can be done about it, and the words of kubectl that show
 * more. Who refuses has the message, and what is known only there.
 */
import {
  InfrastructureError,
  UsageError,
  type ErrorDetail,
  type UserCluster,
  kubectl,
} from '../core/index.ts';

interface Row {
  readonly hint?: string;
  readonly look?: string;
}

/** Judged on what was read, before anything is made. */
const before = {
  NO_SUCH_CLASS: { look: 'get storageclass' },
  LOCAL_VOLUMES: {
    hint: 'no other node can reach them, so there is no detach to try: wait for the node, or give the claim up',
  },
  NO_ATTACHMENTS: {
    hint: 'Kubernetes has nothing to detach, so a forced detach cuts no node off: a lost node writes as long as it reaches the storage',
  },
  NO_CSI_DRIVER: {
    hint: 'install the driver of this class, or choose a class of a CSI driver with -s',
    look: 'get csidrivers',
  },
  VOLUMES_STAY: {
    hint: 'make a class that is the same but for `reclaimPolicy: Delete`, and probe that one',
  },
  TOO_FEW_NODES: { look: 'get nodes,csinodes' },
  SAME_NODE: { hint: 'give two different nodes' },
  NODES_APART: {
    hint: 'trials need two Ready nodes of one topology: add a node to one of these, or name two of the same with --nodes',
  },
  NODE_UNFIT: {
    hint: 'name two other nodes with --nodes, or leave the choice to the probe',
    look: 'get nodes,csinodes',
  },
  TOO_MANY_VOLUMES: { hint: 'other pods use some of these already; reduce --trials' },
  CUT_CONTROL_PLANE: {
    hint: 'cut off a worker: without its control plane the cluster stops',
    look: 'get nodes',
  },
  CUT_LAST_NODE: { hint: 'its pods would have no other node; add one', look: 'get nodes' },
  CUT_REMEDIATOR: {
    hint: 'it would fence, reboot or drain the node during the cut: stop it first',
  },
  CUT_BUDGET: { hint: 'the cut would take one of its pods: wait until it allows a disruption' },
  CUT_FOREIGN_VOLUMES: {
    hint: 'the cut would harm their data: drain the node, or name another one',
  },
  CUT_NOT_CONFIRMED: {},
  POLICY_MISSING: {
    hint: 'apply all that --rbac printed; before Kubernetes 1.30, use --grant instead',
  },
  NAMESPACE_NOT_GIVEN: {},
  NAMESPACE_TOO_STRICT: { hint: 'allow it while the cut lasts' },
  NAMESPACE_IN_USE: {
    hint: 'wait if that probe still runs; if it was killed, remove what it left',
  },
} as const satisfies Readonly<Record<string, Row>>;

/** Found once something is made, which is then removed. */
const later = {
  VOLUME_APART: {
    hint: 'name two nodes that can reach one volume with --nodes; if none can, it is a volume of one node',
  },
  NO_ATTACHMENT: {},
  NEXT_IS_IN: {},
  NOT_OURS: {},
  TRIAL_TIMED_OUT: { hint: 'read the events of the namespace while the probe runs' },
  PROBE_POD: {
    hint: 'name an image with Node 20 or later with --image; a cut needs nsenter in it, too',
  },
  PROBE_WRITER: { hint: 'if it is ENOSPC, a longer watch needs larger volumes (--size)' },
  GRANT_TIMED_OUT: {
    hint: 'the next run has other volumes, and so other names: grant those in time',
  },
  CUT_NO_WRITER: {
    hint: 'no class has a writer; --size gives larger volumes, --image another image',
  },
  CUT_HOST: {
    hint: 'the host needs systemd, nftables and iproute2; --cut-by kubelet needs systemd only',
  },
  CUT_NOT_SEEN: {
    hint: 'pods may start too slowly here, so that the heal came first; or the kubelet is reached by another way than the default routes',
  },
  CUT_NODE: {},
  CUT_NOT_HEALED: {
    hint: 'look at the console of the node; both of its heals should have run by now',
  },
  PROBE_STAYS: {
    hint: 'their removal has begun; look again later, and read the events of the driver',
  },
} as const satisfies Readonly<Record<string, Row>>;

const table: Readonly<Record<string, Row>> = { ...before, ...later };
type Refused = keyof typeof before | keyof typeof later;
type Refusal<Code> = Code extends keyof typeof later ? InfrastructureError : UsageError;

interface More extends Pick<ErrorDetail, 'hint' | 'command' | 'cause'> {
  /** Where `look`, which is by default the table's, shows more. */
  readonly at?: UserCluster;
  readonly look?: string;
}

/** In place of what the table has, `more`. */
export function refusal<Code extends Refused>(
  code: Code,
  message: string,
  { at, look = table[code]?.look, ...more }: More = {},
): Refusal<Code> {
  const { hint } = table[code] ?? {};
  const detail = {
    ...(hint === undefined ? {} : { hint }),
    ...(at === undefined || look === undefined ? {} : { command: kubectl(at, look) }),
    ...more,
  };
  const Family = code in before ? UsageError : InfrastructureError;
  return new Family(code, message, detail) as Refusal<Code>;
}

/** For the page of errors. */
export const refusalRows = Object.keys(table).map((code) => ({
  ...{ code, hint: table[code]?.hint ?? '' },
  family: code in before ? ('UsageError' as const) : ('InfrastructureError' as const),
}));

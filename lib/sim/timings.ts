/**
 * Times of the model in microseconds, each with its source. Stock timers that a scenario can change
 * are not here: they come with the scenario.
 */
import { rangeMs, secondUs } from '../core/index.ts';

export { kubernetesTimes, msUs, secondUs, type DurationRange } from '../core/index.ts';

/** Measured on kind in single runs, or an assumption of the same order. */
export const measuredTimes = {
  /** An API write until a watcher has it; assumption. */
  watchDelay: rangeMs(1, 20),
  /** One API call; assumption. */
  apiCall: rangeMs(2, 10),
  /** A kubelet's status of a pod whose containers ended, before it unmounts; assumption. */
  statusUpdate: rangeMs(10, 100),
  /** StatefulSet controller and scheduler, each; assumption. */
  controllerStep: rangeMs(10, 200),
  /** ControllerPublish and ControllerUnpublish; assumption. */
  controllerCall: rangeMs(5, 40),
  /** From the lists of the API to NodeStage: 0.21–0.46 s in the committed samples. */
  beforeStage: rangeMs(150, 400),
  /** NodeStage with fsck and mount: 20–112 ms alone, 250–610 ms in the committed samples. */
  stage: rangeMs(20, 610),
  /** From the node's list to the VolumeAttachment's deletion: 60–600 ms in the committed samples. */
  beforeDetach: rangeMs(20, 200),
  /**
   * Mounting ext4 with multiple mount protection that was not unmounted cleanly looks twice whether
   * somebody renews it. Measured: a mount refused after 22 s; that this is one look is an assumption.
   */
  mmpLook: rangeMs(21_000, 22_000),
  /** NodePublish and NodeUnpublish; assumption. */
  nodeCall: rangeMs(5, 20),
  /** NodeUnstage with its unmount: 13–556 ms in reports/samples, up to 1.7 s on a loaded machine. */
  unstage: rangeMs(13, 560),
  /** Container creation once the volume is mounted: 0.4–8 s, half below 3 s (reports/samples). Skewed. */
  containerStart: rangeMs(300, 9500),
  /** The server until it serves, crash recovery included: 0.4–6.5 s (reports/samples). Skewed. */
  serverStart: rangeMs(400, 7500),
  /** A server that another one keeps off its files tries again each second. */
  lockRetry: rangeMs(1000, 1000),
  /** The server from SIGTERM to its end: 0.7–3.5 s, and 4.8 s of a thawed one (reports/samples/zombie). */
  serverStop: rangeMs(700, 4800),
  /** The server from the first I/O error to its end: 60–260 ms. */
  serverDeath: rangeMs(60, 260),
  /**
   * Until a reconnected kubelet is heard again: 1.8 to 10.5 s in seven of the committed runs
   * (reports/samples, reports/boundary), and 20.2, 23.4, 33.5, 40.6 and 55.3 s in five. Why so late in
   * those is not known.
   */
  reconnect: rangeMs(1100, 10_500),
  reconnectLate: rangeMs(10_500, 55_500),
  /** From SIGCONT until a kubelet acts again: 0.2 s. */
  resume: rangeMs(100, 300),
  /** From the thaw of a node until its kubelet is heard: 0.2, 1.1 and 10.6 s. */
  thaw: rangeMs(200, 11_500),
  /** From the thaw until it hears of its pods: a pod was killed after 1.3 s (reports/samples/zombie). */
  thawWatch: rangeMs(200, 1300),
  /** From `poweroff` until the kubelet acts on it, or is ended by it: 0.2 s. */
  shutdownBegin: rangeMs(100, 500),
  /** The driver's pod of a node from SIGTERM to its end: 0.7 s. */
  driverStop: rangeMs(200, 900),
  /** From the end of the last process that is waited for until the machine is off: 0.5–1.8 s. */
  powerOff: rangeMs(300, 2000),
  /** The same where the kubelet ended no pods: the system's own are waited for, 3.6–12.8 s in four shutdowns. */
  powerOffWithPods: rangeMs(3000, 13_500),
  /** From the boot of a node until its kubelet is heard: 1.1 and 5.1 s (reports/samples). */
  boot: rangeMs(800, 6000),
  /**
   * From then until the driver's pod there is registered: three volumes were unpublished 4.6, 8.5 and 8.5 s after
   * their node was Ready (reports/corpus), by a kubelet that tries after 0.5, 1.5, 3.5 and 7.5 s.
   */
  driverStart: rangeMs(2000, 7500),
  /** A killed controller manager until its next process runs; assumption. */
  controllerStart: rangeMs(1000, 3000),
  /** A kubelet that is ended and started again, until it is heard: 1.5–3 s, as after a boot; assumption. */
  kubeletStart: rangeMs(1500, 3000),
  /** Until clients of an API server that goes on are heard again; assumption: retries up to 7 s apart. */
  apiReturn: rangeMs(100, 7000),
  /** The sidecar asks for the Lease each second (lib/kind/self-fence/main.ts). */
  selfFenceAsk: rangeMs(0, 1000),
  /** From serving to Ready, by probes once a second: 0.3–1.5 s (reports/samples, reports/boundary). */
  readiness: rangeMs(200, 1500),
  /** One durable commit; assumption, of a cloud disk's order. */
  commit: rangeMs(3, 8),
  /** The rebuild of a table of a thousand rows; assumption. */
  schemaChange: rangeMs(50, 200),
  /** A new connection to the server; assumption. */
  connect: rangeMs(1, 3),
  /** One network way between client and server; assumption. */
  network: { minUs: 100, maxUs: 400 },
  /** Docker commands on a node: pause, unpause, kill, network disconnect; assumption. */
  machineCommand: rangeMs(50, 200),
  /**
   * A command about a component of the control plane, in its node's container: 0.2–0.4 s
   * (reports/samples/controller-restart), 0.9 s under load (reports/boundary/attacher-down…).
   */
  controlPlaneCommand: rangeMs(200, 1000),
  /** Setting a loop device's size limit: 13–57 ms. */
  cut: rangeMs(13, 57),
  /** A sparse copy of the volume; assumption. */
  copy: rangeMs(300, 600),
} as const;

/** See `reconnectLate`: five of twelve. */
export const reconnectLateShare = 5 / 12;

/**
 * CPU that a node's processes want, as a share of one CPU, and the longest pause between heartbeats
 * that get through when they have a hundredth of it; assumption: the measured runs say only that such
 * a node flaps.
 */
export const cpuWanted = 0.3;
export const starvedPauseUs = 120 * secondUs;

/** Bytes that one durable commit puts on the device: its logs, the file system's journal; assumption. */
export const bytesPerCommit = 12_288;
/** Bytes that a mount writes: superblock, journal, and fsck's replay; assumption. */
export const bytesPerMount = 65_536;

/** The client's own timeouts, as on kind: of an operation, and of a connect. */
export const clientTimeoutUs = 5 * secondUs;
export const connectTimeoutUs = 2 * secondUs;

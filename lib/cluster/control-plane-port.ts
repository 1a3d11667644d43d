/** What faults may do to the control plane: a part of the port between an experiment and its cluster. */

/** A part of the control plane that a fault may break. */
export type Component = 'controller-manager' | 'api-server' | 'attacher';

/** Verbs that a cluster lacks are absent, as those of its other ports (port.ts). */
export interface ControlPlane {
  /** Ends the component's process at once; Kubernetes starts another one. [`component-kill`] */
  kill?(component: Component): Promise<void>;
  /** Makes it stand still: it answers nobody, and none takes its place. Idempotent. [`component-stall`] */
  stall?(component: Component): Promise<void>;
  /** Lets it go on. Idempotent. [`component-stall`] */
  resume?(component: Component): Promise<void>;
  /** Which process it is now; undefined while there is none. [`component-kill`, `component-stall`] */
  look?(component: Component): Promise<ComponentLook>;
}

export interface ComponentLook {
  readonly process: string | undefined;
  readonly stalled: boolean;
}

/** What faults may do to the control plane: a part of the port between an experiment and its cluster. */

/** A part of the control plane that a fault may break. */
export type Component = 'controller-manager' | 'api-server' | 'attacher';

/** What faults may do to the control plane. */
export interface ControlPlane {
  /** Ends the component's process at once; Kubernetes starts another one. */
  kill(component: Component): Promise<void>;
  /** Makes it stand still: it answers nobody, and none takes its place. Idempotent. */
  stall(component: Component): Promise<void>;
  /** Lets it go on. Idempotent. */
  resume(component: Component): Promise<void>;
  /** Which process it is now; undefined while there is none. */
  look(component: Component): Promise<ComponentLook>;
}

export interface ComponentLook {
  readonly process: string | undefined;
  readonly stalled: boolean;
}

/**
 * The driver's process. As `controller` it answers csi-attacher, as `node` kubelet; both services
 * keep all that they know on the shared directory and may die at any time.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { UsageError, describeError, exitCode } from '../../core/index.ts';
import { arrayAt } from './array-client.ts';
import { absenceOn, asDeclared, showAlive } from './calls.ts';
import { logCalls, serve, service, type GrpcService } from './grpc.ts';
import { controller, kubernetesObject, kubernetesTaints, registerNode } from './controller.ts';
import { filesNodeService, nodeService } from './node.ts';
import { Controller, Identity, Node } from './gen/csi_pb.js';
import { Registration } from './gen/pluginregistration_pb.js';
import { identity, registration, readDriverSettings, type DriverSettings } from './driver.ts';
import { filesDriverName, layoutOf } from './layout.ts';
import { ensureKernelDevices } from './devices.ts';

/** One driver's sockets and what is served there. */
interface Plugin {
  readonly name: string;
  readonly socket: string;
  /** Where kubelet looks for it; not offered without one. */
  readonly registrationSocket: string | undefined;
  readonly services: readonly GrpcService[];
}

function pluginsOf(mode: string | undefined, settings: DriverSettings): Plugin[] {
  const { NODE_NAME: node, FORCEDETACH_LOOPS: loops, FORCEDETACH_ROOT: root } = settings;
  const layout = layoutOf(root);
  const backend = { layout, array: arrayAt(layout.arraySocket) };
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = settings;
  const objectAt = kubernetesObject(host === undefined ? undefined : { host, port });
  const isGone = absenceOn(layout, async (path) => (await objectAt(path)) !== undefined);
  const around = asDeclared({ layout, host: node, isGone }, logCalls(layout, node));
  const plugin = (about: Omit<Plugin, 'services'>, served: GrpcService): Plugin => {
    const { name } = about;
    const who = identity(root, { name, hasController: name !== filesDriverName });
    return { ...about, services: [service(Identity, who), served] };
  };
  const disk = {
    name: settings.CSI_DRIVER_NAME,
    socket: settings.CSI_SOCKET,
    registrationSocket: settings.CSI_REGISTRATION_SOCKET,
  };
  if (mode === 'node') {
    const served = plugin(disk, service(Node, nodeService({ backend, node }), around));
    const { CSI_FILES_SOCKET: socket, CSI_FILES_REGISTRATION_SOCKET: registrationSocket } =
      settings;
    if (socket === undefined) return [served];
    const files = service(Node, filesNodeService({ layout, node }), around);
    return [served, plugin({ name: filesDriverName, socket, registrationSocket }, files)];
  }
  if (mode === 'controller' && loops !== undefined) {
    const taints = kubernetesTaints(objectAt);
    return [plugin(disk, service(Controller, controller({ backend, loops, taints }), around))];
  }
  throw new UsageError('BAD_MODE', `cannot run as ${mode ?? 'nothing'}`, {
    hint: 'Give --mode node, or --mode controller with FORCEDETACH_LOOPS set.',
  });
}

async function main(): Promise<void> {
  const { mode } = parseArgs({ options: { mode: { type: 'string' } } }).values;
  const settings = readDriverSettings(process.env);
  const plugins = pluginsOf(mode, settings);
  await ensureKernelDevices();
  await using stack = new AsyncDisposableStack();
  if (mode === 'node') {
    const layout = layoutOf(settings.FORCEDETACH_ROOT);
    await registerNode(layout, settings.NODE_NAME);
    stack.use(await showAlive(layout, settings.NODE_NAME));
  }
  for (const { socket, services } of plugins) stack.use(await serve(socket, services));
  await register(plugins, settings.CSI_REGISTERED_FILE, stack);
  console.log(`${mode} on ${settings.NODE_NAME} listens on ${settings.CSI_SOCKET}`);
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/** Offers the drivers to kubelet, where there is one. */
async function register(
  plugins: readonly Plugin[],
  registeredFile: string | undefined,
  stack: AsyncDisposableStack,
): Promise<void> {
  const missing = new Set(plugins.map(({ name }) => name));
  for (const { name, socket, registrationSocket } of plugins) {
    if (registrationSocket === undefined) continue;
    const onRegistered = async (): Promise<void> => {
      missing.delete(name);
      if (missing.size === 0 && registeredFile !== undefined) await writeFile(registeredFile, '');
    };
    const handlers = registration({ name, socket, onRegistered });
    stack.use(await serve(registrationSocket, [service(Registration, handlers)]));
  }
}

await main().catch((error: unknown) => {
  console.error(describeError(error));
  process.exitCode = error instanceof UsageError ? exitCode.usage : exitCode.infrastructure;
});

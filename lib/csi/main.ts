/**
 * The driver's process. As `controller` it answers csi-attacher, as `node` kubelet; both services
 * keep all that they know on the shared directory and may die at any time.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { UsageError, describeError, exitCode } from '../errors.ts';
import { logCalls } from './call-log.ts';
import { controller } from './controller.ts';
import { Controller, Identity, Node } from './gen/csi_pb.js';
import { Registration } from './gen/pluginregistration_pb.js';
import { serve, service, type Service } from './grpc.ts';
import { identity, registration } from './identity.ts';
import { layoutOf } from './layout.ts';
import { ensureKernelDevices } from './loop-device.ts';
import { nodeService } from './node.ts';
import { readSettings, type Settings } from './settings.ts';

function servicesOf(mode: string | undefined, settings: Settings): Service[] {
  const { NODE_NAME: node, FORCEDETACH_LOOPS: loops, FORCEDETACH_ROOT: root } = settings;
  const layout = layoutOf(root);
  const around = logCalls(layout, node);
  const who = service(Identity, identity(root));
  if (mode === 'node') return [who, service(Node, nodeService({ layout, node }), around)];
  if (mode === 'controller' && loops !== undefined) {
    return [who, service(Controller, controller(layout, loops), around)];
  }
  throw new UsageError('BAD_MODE', `cannot run as ${mode ?? 'nothing'}`, {
    hint: 'Give --mode node, or --mode controller with FORCEDETACH_LOOPS set.',
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { mode: { type: 'string' } } });
  const settings = readSettings(process.env);
  const services = servicesOf(values.mode, settings);
  await ensureKernelDevices();
  await using stack = new AsyncDisposableStack();
  stack.use(await serve(settings.CSI_SOCKET, services));
  stack.use(await register(settings));
  console.log(`${values.mode} on ${settings.NODE_NAME} listens on ${settings.CSI_SOCKET}`);
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

/** Offers the driver to kubelet, where there is one. */
async function register(settings: Settings): Promise<AsyncDisposable | undefined> {
  const { CSI_REGISTRATION_SOCKET: at, CSI_REGISTERED_FILE: file, CSI_SOCKET: socket } = settings;
  if (at === undefined) return undefined;
  const handlers = registration({
    socket,
    onRegistered: () => (file === undefined ? Promise.resolve() : writeFile(file, '')),
    onRefused: refused,
  });
  return serve(at, [service(Registration, handlers)]);
}

/** A new process makes new sockets, and kubelet asks again. */
function refused(error: string): void {
  console.error(`kubelet refused the driver: ${error}`);
  process.exit(exitCode.infrastructure);
}

await main().catch((error: unknown) => {
  console.error(describeError(error));
  process.exitCode = error instanceof UsageError ? exitCode.usage : exitCode.infrastructure;
});

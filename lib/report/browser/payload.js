/** Data that the page carries: found by its id, inflated. */

/** @type {any} */
const platform = globalThis;

/** @param {string} id */
export const payloadJson = (id) => JSON.parse(platform.document.getElementById(id).textContent);

/**
 * @param {string} id  of an element that holds deflated bytes in base64
 * @returns {Promise<Uint8Array>}
 */
export async function payloadBytes(id) {
  const text = platform.atob(platform.document.getElementById(id).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const inflated = new platform.Blob([packed])
    .stream()
    .pipeThrough(new platform.DecompressionStream('deflate-raw'));
  return new Uint8Array(await new platform.Response(inflated).arrayBuffer());
}

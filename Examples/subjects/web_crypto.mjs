// The Web Crypto API as a subject: CBC and CTR, served and from files, with measurements.
//
//     chunkwise verify --subject 'node Examples/subjects/web_crypto.mjs'
//
// Node has AES keys of 192 bits here; not every browser does.
import { serve } from "./subject_protocol.mjs";

const { subtle } = globalThis.crypto;

async function prepare(mode, key) {
  const name = `AES-${mode.toUpperCase()}`;
  const imported = await subtle.importKey("raw", key, name, false, ["encrypt", "decrypt"]);
  if (mode === "ctr") {
    return async (counter, data) => Buffer.from(await subtle.decrypt({ name, counter, length: 128 }, imported, data));
  }
  // AES-CBC always takes padding off, so two blocks are appended: zeros, and what is a block of padding after zeros.
  // They are the same for any data. What the zeros decrypt to is dropped.
  const zeros = Buffer.alloc(16);
  const padding = await subtle.encrypt({ name, iv: zeros }, imported, Buffer.alloc(0));
  const tail = Buffer.concat([zeros, Buffer.from(padding)]);
  return async (iv, data) => {
    const plaintext = await subtle.decrypt({ name, iv }, imported, Buffer.concat([data, tail]));
    return Buffer.from(plaintext, 0, data.length);
  };
}

serve(prepare, { name: "web-crypto", version: process.version });

// Node's `crypto` as a subject: CBC and CTR, served and from files, with measurements.
//
//     chunkwise verify --subject 'node Examples/subjects/node_crypto.mjs'
import { createDecipheriv } from "node:crypto";
import { serve } from "./subject_protocol.mjs";

function prepare(mode, key) {
  const algorithm = `aes-${key.length * 8}-${mode}`;
  return (iv, data) => {
    const decipher = createDecipheriv(algorithm, key, iv).setAutoPadding(false);
    const plaintext = decipher.update(data);
    decipher.final();
    return plaintext;
  };
}

serve(prepare, { name: "node-crypto", version: `${process.version} (OpenSSL ${process.versions.openssl})` });

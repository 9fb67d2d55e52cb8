import ArgumentParser
import RandomAccess

/// `chunkwise format new`
struct FormatNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Prints a description of a format as a starting point.",
        discussion: helpText(
            """
            The description is of the most common kind: a header with a random salt, a key derived from it, and chunks
            with nonce, ciphertext and tag in AES-GCM, bound to their index and to the end. It is valid as it is. Change
            the parts that differ in your format.

            EXAMPLES
              chunkwise format new mine > mine.yml

            EXIT CODES
              0 written; 64 the name is invalid
            """))

    @Argument(help: "The format's name: letters from a to z, digits and hyphens, at most 64.")
    var name: String

    func run() throws {
        let text = Self.text(name)
        let formats = try? Format.read(Array(text.utf8))
        try require(
            formats?.map(\.name) == [name] && !Format.names.contains(name), .usage,
            "the name \"\(name)\": expected letters from a to z, digits and hyphens, at most 64, and none of a known "
                + "format"
        )
        print(text)
    }

    private static func text(_ name: String) -> String {
        """
        # A format of encrypted files, for chunkwise. docs/formats.md explains each member.
        \(name):
          summary: Chunks in AES-GCM, bound to their index, their file and its end
          source: ""                  # the document or the code that defines it

          inputs:                     # what has to be known beside the file
            key: 32                   # its length in bytes, or a list of lengths
            chunkByteCount: {default: 65536, min: 1, max: 16777216}

          header:                     # fields in order, with their lengths in bytes
            - magic: {bytes: 4, is: "'MINE'", error: invalidHeader}
            - salt: 32                # no "is": a writer draws it at random

          derive:                     # values, in order
            - fileKey: hkdf('sha256', key, salt, 'file key', 32)

          cipher: aes-gcm
          chunk: chunkByteCount       # plaintext bytes of a full chunk
          layout:                     # a chunk as it is stored
            - nonce: 12               # random, too
            - data
            - tag: 16

          # For each chunk; i is its index from 0, last is 1 for the last one and 0 for others.
          key: fileKey
          nonce: nonce
          aad: u64be(i) ++ u8(last)
        """
    }
}

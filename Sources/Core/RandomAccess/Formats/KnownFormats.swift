import Synchronization

extension Format {
    /// The descriptions that come with the program, from `data/formats`, by file name.
    private static let files: [(name: String, text: [UInt8])] = [
        ("cbc-continuous", PackageResources.cbc_continuous_yml),
        ("cbc-chunked", PackageResources.cbc_chunked_yml),
        ("ctr", PackageResources.ctr_yml),
        ("age", PackageResources.age_yml),
        ("aws-esdk", PackageResources.aws_esdk_yml),
        ("chunk-iv-ct-mac", PackageResources.chunk_iv_ct_mac_yml),
        ("chunk-nonce-ct-tag", PackageResources.chunk_nonce_ct_tag_yml),
        ("clickhouse-disk", PackageResources.clickhouse_disk_yml),
        ("cobblestone", PackageResources.cobblestone_yml),
        ("crypt4gh", PackageResources.crypt4gh_yml),
        ("cryptomator-ctrmac", PackageResources.cryptomator_ctrmac_yml),
        ("cryptomator-gcm", PackageResources.cryptomator_gcm_yml),
        ("dare", PackageResources.dare_yml),
        ("dare-1", PackageResources.dare_1_yml),
        ("floe", PackageResources.floe_yml),
        ("gocryptfs", PackageResources.gocryptfs_yml),
        ("gocryptfs-aessiv", PackageResources.gocryptfs_aessiv_yml),
        ("hadoop-ctr", PackageResources.hadoop_ctr_yml),
        ("iv-prefix-cbc", PackageResources.iv_prefix_cbc_yml),
        ("iv-prefix-cbc-mac", PackageResources.iv_prefix_cbc_mac_yml),
        ("iv-prefix-ctr", PackageResources.iv_prefix_ctr_yml),
        ("matrix-attachment", PackageResources.matrix_attachment_yml),
        ("mega", PackageResources.mega_yml),
        ("openpgp-seipd2", PackageResources.openpgp_seipd2_yml),
        ("openssl-enc", PackageResources.openssl_enc_yml),
        ("rclone-crypt", PackageResources.rclone_crypt_yml),
        ("rocksdb-ctr", PackageResources.rocksdb_ctr_yml),
        ("s3ec-gcm-range", PackageResources.s3ec_gcm_range_yml),
        ("s3ec-kc-gcm-range", PackageResources.s3ec_kc_gcm_range_yml),
        ("seal", PackageResources.seal_yml),
        ("sqlcipher-4", PackageResources.sqlcipher_4_yml),
        ("tink-aes-ctr-hmac", PackageResources.tink_aes_ctr_hmac_yml),
        ("tink-aes-gcm-hkdf", PackageResources.tink_aes_gcm_hkdf_yml),
        ("xts-sectors", PackageResources.xts_sectors_yml),
    ]

    /// The formats parsed so far, by file name.
    private static let read = Mutex<[String: [Format]]>([:])

    private static func formats(_ file: (name: String, text: [UInt8])) -> [Format] {
        read.withLock { read in
            if let formats = read[file.name] { return formats }
            // Falls back to nothing: a test parses all of them.
            let formats = (try? Format.read(file.text)) ?? []
            read[file.name] = formats
            return formats
        }
    }

    /// The formats that come with the program.
    public static var known: [Format] { files.flatMap(formats) }

    /// The name of the default format.
    package static let usualName = files[0].name

    static let wholeCBC = whole(.aesCBC)
    static let wholeCTR = whole(.aesCTR)

    /// The first known format that is a mode of operation over the whole file.
    private static func whole(_ cipher: Cipher) -> Format? {
        files.lazy.flatMap(formats).first { format in
            format.cipher.expression == .bytes(ByteString(cipher.rawValue.utf8)) && format.chunk == nil
                && format.header.isEmpty && format.layout == [.data]
                && format.nonce.expression == .name(Input.ivName)
        }
    }

    /// The names of the known formats.
    public static let names: [String] = files.flatMap { file -> [String] in
        // Does not parse the expressions.
        let document = try? YAMLNode(file.text).members("a description")
        guard let description = document?.first else { return [] }
        let variants = try? description.value.members("members").first { $0.name == "variants" }?.value.members("names")
        return variants.map { $0.map(\.name) } ?? [description.name]
    }

    /// Returns a known format by its name. It parses only that format's description, to keep commands fast.
    ///
    /// - Throws: `DecryptionError.unsupported` for an unknown name.
    public static func named(_ name: String) throws(DecryptionError) -> Format {
        let files = files.filter { name == $0.name || name.hasPrefix($0.name + "-") }
        guard let format = files.lazy.flatMap(formats).first(where: { $0.name == name }) else {
            throw .unsupported("strategy \"\(name)\"\(Nearest.hint(name, in: names))")
        }
        return format
    }

    /// Returns the only format of a description, or, with a name, one of several. Errors have line and column.
    package static func named(_ name: String?, in text: [UInt8]) throws(DescriptionError) -> Format {
        let formats = try Format.read(text)
        let names = formats.map(\.name)
        let start = DescriptionPlace(line: 1, column: 1)
        if let name {
            guard let format = formats.first(where: { $0.name == name }) else {
                throw DescriptionError(start, "no format \"\(name)\"\(Nearest.hint(name, in: names))")
            }
            return format
        }
        guard let format = formats.first, formats.count == 1 else {
            throw DescriptionError(
                start, "the formats \(names.joined(separator: ", ")): expected the name of one of them")
        }
        return format
    }
}

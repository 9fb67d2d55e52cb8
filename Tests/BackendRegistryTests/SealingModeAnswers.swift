import RandomAccess

/// Published answers of OCB, EAX and GCM-SIV. RFC 5297 has none of two strings, so those of SIV are another library's,
/// the tag behind the ciphertext.
extension CipherAnswer {
    private static func answer(
        _ cipher: Cipher, _ title: String, key: String, nonce: String, associatedData: String, plaintext: String,
        output: String
    ) -> CipherAnswer {
        CipherAnswer(
            cipher: cipher, title: title, key: bytes(key), nonce: bytes(nonce), associatedData: bytes(associatedData),
            plaintext: bytes(plaintext), output: bytes(output))
    }

    static let modes = [
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 0", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221100", associatedData: "",
            plaintext: "",
            output: "785407bfffc8ad9edcc5520ac9111ee6"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 1", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221101", associatedData: "0001020304050607",
            plaintext: "0001020304050607",
            output: "6820b3657b6f615a5725bda0d3b4eb3a257c9af1f8f03009"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 2", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221102", associatedData: "0001020304050607",
            plaintext: "",
            output: "81017f8203f081277152fade694a0a00"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 3", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221103", associatedData: "",
            plaintext: "0001020304050607",
            output: "45dd69f8f5aae72414054cd1f35d82760b2cd00d2f99bfa9"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 4", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221104", associatedData: "000102030405060708090a0b0c0d0e0f",
            plaintext: "000102030405060708090a0b0c0d0e0f",
            output: "571d535b60b277188be5147170a9a22c3ad7a4ff3835b8c5701c1ccec8fc3358"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce 7", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa99887766554433221107", associatedData: "000102030405060708090a0b0c0d0e0f1011121314151617",
            plaintext: "000102030405060708090a0b0c0d0e0f1011121314151617",
            output: "1ca2207308c87c010756104d8840ce1952f09673a448a122c92c62241051f57356d7f3c90bb0e07f"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce D", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa9988776655443322110d",
            associatedData: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
            plaintext: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
            output: "d5ca91748410c1751ff8a2f618255b68a0a12e093ff454606e59f9c1d0ddc54b65e8628e568bad7aed07ba06"
                + "a4a69483a7035490c5769e60"),
        answer(
            .aesOCB, "RFC 7253, appendix A, nonce F", key: "000102030405060708090a0b0c0d0e0f",
            nonce: "bbaa9988776655443322110f", associatedData: "",
            plaintext: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627",
            output: "4412923493c57d5de0d700f753cce0d1d2d95060122e9f15a5ddbfc5787e50b5cc55ee507bcb084e479ad363"
                + "ac366b95a98ca5f3000b1479"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 0 bytes", key: "233952dee4d5ed5f9b9c6d6ff80ff478",
            nonce: "62ec67f9c3a4a407fcb2a8c49031a8b3", associatedData: "6bfb914fd07eae6b",
            plaintext: "",
            output: "e037830e8389f27b025a2d6527e79d01"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 2 bytes", key: "91945d3f4dcbee0bf45ef52255f095a4",
            nonce: "becaf043b0a23d843194ba972c66debd", associatedData: "fa3bfd4806eb53fa",
            plaintext: "f7fb",
            output: "19dd5c4c9331049d0bdab0277408f67967e5"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 5 bytes", key: "01f74ad64077f2e704c0f60ada3dd523",
            nonce: "70c3db4f0d26368400a10ed05d2bff5e", associatedData: "234a3463c1264ac6",
            plaintext: "1a47cb4933",
            output: "d851d5bae03a59f238a23e39199dc9266626c40f80"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 17 bytes", key: "7c77d6e813bed5ac98baa417477a2e7d",
            nonce: "1a8c98dcd73d38393b2bf1569deefc19", associatedData: "65d2017990d62528",
            plaintext: "8b0a79306c9ce7ed99dae4f87f8dd61636",
            output: "02083e3979da014812f59f11d52630da30137327d10649b0aa6e1c181db617d7f2"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 18 bytes", key: "5fff20cafab119ca2fc73549e20f5b0d",
            nonce: "dde59b97d722156d4d9aff2bc7559826", associatedData: "54b9f04e6a09189a",
            plaintext: "1bda122bce8a8dbaf1877d962b8592dd2d56",
            output: "2ec47b2c4954a489afc7ba4897edcdae8cc33b60450599bd02c96382902aef7f832a"),
        answer(
            .aesEAX, "Bellare, Rogaway and Wagner, appendix G, 21 bytes", key: "8395fcf1e95bebd697bd010bc766aac3",
            nonce: "22e7add93cfc6393c57ec0b3c17d6b44", associatedData: "126735fcc320d25a",
            plaintext: "ca40d7446e545ffaed3bd12a740a659ffbbb3ceab7",
            output: "cb8920f87a6c75cff39627b56e3ed197c552d295a7cfc46afc253b4652b1af3795b124ab6e"),
        answer(
            .aesGCMSIV, "RFC 8452, C.1, 0 bytes", key: "01000000000000000000000000000000",
            nonce: "030000000000000000000000", associatedData: "",
            plaintext: "",
            output: "dc20e2d83f25705bb49e439eca56de25"),
        answer(
            .aesGCMSIV, "RFC 8452, C.1, 8 bytes", key: "01000000000000000000000000000000",
            nonce: "030000000000000000000000", associatedData: "",
            plaintext: "0100000000000000",
            output: "b5d839330ac7b786578782fff6013b815b287c22493a364c"),
        answer(
            .aesGCMSIV, "RFC 8452, C.1, 8 bytes", key: "01000000000000000000000000000000",
            nonce: "030000000000000000000000", associatedData: "01",
            plaintext: "0200000000000000",
            output: "1e6daba35669f4273b0a1a2560969cdf790d99759abd1508"),
        answer(
            .aesGCMSIV, "RFC 8452, C.1, 3 bytes", key: "36864200e0eaf5284d884a0e77d31646",
            nonce: "bae8e37fc83441b16034566b", associatedData: "46bb91c3c5",
            plaintext: "7a806c",
            output: "af60eb711bd85bc1e4d3e0a462e074eea428a8"),
        answer(
            .aesGCMSIV, "RFC 8452, C.2, 0 bytes",
            key: "0100000000000000000000000000000000000000000000000000000000000000",
            nonce: "030000000000000000000000", associatedData: "",
            plaintext: "",
            output: "07f5f4169bbf55a8400cd47ea6fd400f"),
        answer(
            .aesGCMSIV, "RFC 8452, C.2, 8 bytes",
            key: "0100000000000000000000000000000000000000000000000000000000000000",
            nonce: "030000000000000000000000", associatedData: "",
            plaintext: "0100000000000000",
            output: "c2ef328e5c71c83b843122130f7364b761e0b97427e3df28"),
        answer(
            .aesGCMSIV, "RFC 8452, C.3, 32 bytes",
            key: "0000000000000000000000000000000000000000000000000000000000000000",
            nonce: "000000000000000000000000", associatedData: "",
            plaintext: "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
            output: "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3eaffffffff0000000000000000"
                + "00000000"),
        answer(
            .aesGCMSIV, "RFC 8452, C.3, 24 bytes",
            key: "0000000000000000000000000000000000000000000000000000000000000000",
            nonce: "000000000000000000000000", associatedData: "",
            plaintext: "eb3640277c7ffd1303c7a542d02d3e4c0000000000000000",
            output: "18ce4f0b8cb4d0cac65fea8f79257b20888e53e72299e56dffffffff000000000000000000000000"),
        answer(
            .aesSIV, "pyca/cryptography 48.0.0, key of 32, 14 bytes",
            key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            nonce: "09f911029d74e35bd84156c5635688c0",
            associatedData: "101112131415161718191a1b1c1d1e1f2021222324252627",
            plaintext: "112233445566778899aabbccddee",
            output: "9d8df606499e827de8fc0640c1c63145e3747bee97001062ab5cc0fb41a8"),
        answer(
            .aesSIV, "pyca/cryptography 48.0.0, key of 48, 47 bytes",
            key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f",
            nonce: "09f911029d74e35bd84156c5635688c0", associatedData: "102030405060708090a0",
            plaintext: "7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d"
                + "414553",
            output: "749585102eea3c93aa43803b71b76681b32cc1905e55509382c0ecaa9bc3eb4d5952a2b6547ffeec18ffbc2a"
                + "418265e88e1189f7e092943890e64359d527a6"),
        answer(
            .aesSIV, "pyca/cryptography 48.0.0, key of 64, 14 bytes",
            key:
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            nonce: "09f911029d74e35bd84156c5635688c0",
            associatedData: "101112131415161718191a1b1c1d1e1f2021222324252627",
            plaintext: "112233445566778899aabbccddee",
            output: "340706eba87e84399b04e31b4d6947be0f681f30b55185c5fda31c92adf2"),
        answer(
            .aesSIV, "pyca/cryptography 48.0.0, key of 64, 0 bytes",
            key:
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
            nonce: "09f911029d74e35bd84156c5635688c0", associatedData: "",
            plaintext: "",
            output: "95a5fb40fb0716fa6e4d8b8bb63161f3"),
    ]
}

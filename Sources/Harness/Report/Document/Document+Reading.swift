import Statistics

extension Document {
    /// What the figures mean and what they do not say.
    static func reading(_ summary: RunSummary) -> Section {
        Section(
            name: "reading", title: "How to read this",
            blocks: [
                .list([
                    "Throughput is plaintext bytes delivered ÷ the median time of an iteration, over all rounds. It "
                        + "includes reading the ciphertext from its source, not only the cipher.",
                    "An interval is a 95 % percentile bootstrap interval of that median: rounds (fresh processes) are "
                        + "drawn again, and samples inside each, \(SignificantDigits.grouped(UInt64(MedianInterval.resampleCount))) "
                        + "times. With few rounds it is approximate, and it knows nothing of other machines or days.",
                    "Two figures tie where their intervals overlap: these data do not tell which is greater. That is "
                        + "not a proof that they are equal. The best of many cells is also a lucky one, a little.",
                    "Latency percentiles are by nearest rank: each is a latency that occurred. p99.9 of fewer than a "
                        + "thousand reads is their maximum.",
                    "Memory growth is the high-water mark of resident memory minus what was resident when the object "
                        + "was open, seen from outside a fresh process. Digest, time, latency and memory are separate "
                        + "passes.",
                    "Fetched and decrypted are ciphertext bytes per plaintext byte delivered; 1.00× is the least.",
                    "KiB, MiB and GiB are powers of 1024. A decimal unit stands only where a size was chosen as such: "
                        + "16 MB is 16,000,000 bytes.",
                    "Scales are logarithmic: equal distances are equal ratios.",
                    "A cell whose plaintext was not checked, or whose backend failed a vector, shows no speed.",
                ])
            ]
        )
    }
}

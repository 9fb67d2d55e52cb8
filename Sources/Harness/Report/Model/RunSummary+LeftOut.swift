import Results

extension RunSummary {
    /// What stands in the result file and is not in the report, in sentences.
    var leftOutTexts: [String] { results.leftOut.texts }
}

extension RunResults.LeftOut {
    /// What it is, in sentences; nothing if nothing is left out.
    var texts: [String] {
        var texts: [String] = []
        if cutByteCount > 0 {
            texts.append(
                "The result file ends in the middle of a record: its last "
                    + RatioText.count(cutByteCount, "byte") + " are left out. All whole records before are "
                    + "reported.")
        }
        if orphanRecordCount > 0 {
            texts.append(
                RatioText.count(orphanRecordCount, "record") + " of cells that no check announced "
                    + (orphanRecordCount == 1 ? "is" : "are") + " left out.")
        }
        if repeatedRecordCount > 0 {
            texts.append(
                RatioText.count(repeatedRecordCount, "record") + " of what an earlier one had said already "
                    + (repeatedRecordCount == 1 ? "is" : "are") + " left out.")
        }
        return texts
    }
}

extension Warning {
    /// Creates a warning above the verdict from a sentence that says all there is to say.
    init(plain text: String) {
        self.init(title: "Before you read on", message: text, advice: "", isSerious: true)
    }
}

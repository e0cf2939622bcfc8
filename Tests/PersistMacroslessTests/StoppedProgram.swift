import Testing

extension ExitTest.Result {
  /// Whether a program said so when it stopped. Optimised programs stop without a word.
  func says(_ text: String) -> Bool {
    #if DEBUG
      String(decoding: standardErrorContent, as: UTF8.self).contains(text)
    #else
      true
    #endif
  }
}

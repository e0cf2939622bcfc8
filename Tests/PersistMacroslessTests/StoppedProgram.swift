import Testing

extension ExitTest.Result {
  /// Whether a program printed a message when it stopped. Optimized programs stop without one.
  func says(_ text: String) -> Bool {
    #if DEBUG
      String(decoding: standardErrorContent, as: UTF8.self).contains(text)
    #else
      true
    #endif
  }
}

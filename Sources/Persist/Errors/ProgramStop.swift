import Foundation

/// Stops the program for a mistake in its code.
enum ProgramStop {
  /// Stops with a sentence on standard error, in optimised builds too, where `preconditionFailure` says nothing.
  static func failure(_ sentence: String, file: StaticString = #file, line: UInt = #line) -> Never {
    if !saysPreconditions { report(sentence) }
    preconditionFailure(sentence, file: file, line: line)
  }

  static func report(_ sentence: String) {
    FileHandle.standardError.write(Data("Fatal error: \(sentence)\n".utf8))
  }

  /// Whether the build is one that checks assertions.
  private static var saysPreconditions: Bool {
    var isChecked = false
    assert(
      {
        isChecked = true
        return true
      }())
    return isChecked
  }
}

import Foundation

/// Stops the program because of a mistake in its code.
package enum ProgramStop {
  /// Stops with a message on standard error, in optimized builds too, where `preconditionFailure` prints nothing.
  package static func failure(_ sentence: String, file: StaticString = #file, line: UInt = #line) -> Never {
    if !saysPreconditions { report(sentence) }
    preconditionFailure(sentence, file: file, line: line)
  }

  static func report(_ sentence: String) {
    FileHandle.standardError.write(Data("Fatal error: \(sentence)\n".utf8))
  }

  /// Whether assertions are checked in this build.
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

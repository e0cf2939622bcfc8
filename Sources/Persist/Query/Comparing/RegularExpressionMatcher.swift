import Foundation

/// The pattern of `MATCHES`: a regular expression that the whole text must match.
package struct RegularExpressionMatcher: Sendable {
  /// The number of progress reports from ICU that one match may cause, one per ten thousand steps: about a second of
  /// work. A pattern such as `(a+)+b` could otherwise run indefinitely. Counted rather than timed, so that the same
  /// text always gives the same answer, and below the count at which Foundation on Linux gives up and reports no match.
  private static let progressLimit = 2000

  private let pattern: String
  private let expression: NSRegularExpression
  private let comparison: TextComparison

  /// - Throws: ``PersistenceError/Code/invalidPredicate`` if the pattern isn't a valid regular expression.
  package init(_ pattern: String, options: FetchPredicate.Options) throws {
    self.pattern = pattern
    comparison = TextComparison(options.intersection([.diacriticInsensitive, .normalized]))
    let folded = comparison.folded(pattern)
    do {
      // The pattern must be valid by itself: an extra parenthesis must not close the surrounding group.
      if !folded.isEmpty { _ = try NSRegularExpression(pattern: folded) }
      expression = try Self.whole(
        folded, options: options.contains(.caseInsensitive) && !options.contains(.normalized) ? .caseInsensitive : [])
    } catch {
      throw PersistenceError(
        .invalidPredicate, "\(ValueWords.text(pattern)) isn't a regular expression.",
        fix: "MATCHES takes ICU regular expressions; LIKE takes * and ?.")
    }
  }

  /// Returns the expression that matches a whole text.
  ///
  /// A valid pattern may end in a comment of the mode `(?x)` or in a quotation, which continue until the end of a line
  /// and until `\E`. They are ended only in a pattern that can't be surrounded otherwise: in others, the ends would be
  /// characters to match.
  private static func whole(_ pattern: String, options: NSRegularExpression.Options) throws -> NSRegularExpression {
    func surrounded(endedBy end: String) throws -> NSRegularExpression {
      try NSRegularExpression(pattern: "\\A(?:\(pattern)\(end))\\z", options: options)
    }
    if let plain = try? surrounded(endedBy: "") { return plain }
    if let commented = try? surrounded(endedBy: "\n") { return commented }
    return try surrounded(endedBy: "\\E")
  }

  /// - Throws: ``PersistenceError/Code/limitExceeded`` if matching takes too long.
  package func matches(_ text: String) throws -> Bool {
    let text = comparison.folded(text)
    var progress = 0
    var isMatch = false
    var isTooMuch = false
    expression.enumerateMatches(
      in: text, options: [.reportProgress, .reportCompletion], range: NSRange(text.startIndex..., in: text)
    ) { result, flags, stop in
      if result != nil { isMatch = true }
      if flags.contains(.progress) { progress += 1 }
      // An internal error means that ICU's own memory limit was exceeded.
      if flags.contains(.internalError) || progress >= Self.progressLimit { isTooMuch = true }
      if isMatch || isTooMuch { stop.pointee = true }
    }
    guard !isTooMuch else {
      throw PersistenceError(
        .limitExceeded, "Matching \(ValueWords.text(pattern)) takes too long on a text of \(text.count) characters.",
        fix: "Avoid repetitions inside repetitions, such as (a+)+.")
    }
    return isMatch
  }
}

import Foundation

/// The pattern of `MATCHES`: a regular expression that the whole text must match.
struct RegularExpressionMatcher: Sendable {
  /// How often ICU may report progress during one match, once per ten thousand steps: about a second of work. A
  /// pattern such as `(a+)+b` would take longer than anyone waits. Counted and not timed, so that the same text always
  /// gives the same answer; below the count at which Foundation on Linux gives up and reports that nothing matched.
  private static let progressLimit = 2000

  private let pattern: String
  private let expression: NSRegularExpression
  private let comparison: TextComparison

  /// - Throws: ``PersistenceError/Code/invalidPredicate`` where the pattern is no regular expression.
  init(_ pattern: String, options: FetchPredicate.Options) throws {
    self.pattern = pattern
    comparison = TextComparison(options.intersection(.diacriticInsensitive))
    let folded = comparison.folded(pattern)
    do {
      // The pattern must stand on its own: one with a parenthesis too many must not close the group around it.
      if !folded.isEmpty { _ = try NSRegularExpression(pattern: folded) }
      expression = try NSRegularExpression(
        pattern: "\\A(?:\(folded))\\z",
        options: options.contains(.caseInsensitive) && !options.contains(.normalized) ? .caseInsensitive : [])
    } catch {
      throw PersistenceError(
        .invalidPredicate, "'\(pattern)' isn't a regular expression.",
        fix: "MATCHES takes ICU's regular expressions; LIKE takes * and ?.")
    }
  }

  /// - Throws: ``PersistenceError/Code/limitExceeded`` where matching takes too long.
  func matches(_ text: String) throws -> Bool {
    let text = comparison.folded(text)
    var progress = 0
    var isMatch = false
    var isTooMuch = false
    expression.enumerateMatches(
      in: text, options: [.reportProgress, .reportCompletion], range: NSRange(text.startIndex..., in: text)
    ) { result, flags, stop in
      if result != nil { isMatch = true }
      if flags.contains(.progress) { progress += 1 }
      // An internal error is ICU's own bound on memory.
      if flags.contains(.internalError) || progress >= Self.progressLimit { isTooMuch = true }
      if isMatch || isTooMuch { stop.pointee = true }
    }
    guard !isTooMuch else {
      throw PersistenceError(
        .limitExceeded, "Matching '\(pattern)' takes too long on a text of \(text.count) characters.",
        fix: "Avoid repetitions inside repetitions, such as (a+)+.")
    }
    return isMatch
  }
}

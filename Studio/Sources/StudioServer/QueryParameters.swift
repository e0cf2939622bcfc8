import Foundation

/// The parameters of a request's address, in the form in which the page's `URLSearchParams` writes them: a plus sign is
/// a space, and `%2B` is a plus sign.
///
/// - SeeAlso: <https://url.spec.whatwg.org/#concept-urlencoded-parser>
enum QueryParameters {
  /// Returns the values by name; the last one of a name that occurs twice.
  static func read(_ query: String) -> [String: String] {
    var values: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { decoded($0) }
      values[parts[0]] = parts.count == 2 ? parts[1] : ""
    }
    return values
  }

  private static func decoded(_ text: Substring) -> String {
    let spaced = text.replacingOccurrences(of: "+", with: " ")
    return spaced.removingPercentEncoding ?? spaced
  }
}

import Foundation

/// The Swift code in an article of the documentation, compared with the tests that run it.
public enum ArticleCode {
  /// Returns the lines of code in an article that are in no line of a test file; surrounding blanks are ignored.
  ///
  /// - Parameters:
  ///   - path: The article, within the package.
  ///   - tests: A file that runs the article's code, such as `#filePath`.
  ///   - heading: The line of the heading whose code is the first that counts; nil for all code.
  /// - Returns: Those lines, and the total number of lines of code.
  public static func missing(
    from tests: String, inArticle path: String, below heading: String? = nil
  ) throws -> (lines: [String], shown: Int) {
    let article = try lines(of: PackageFolder.url.appendingPathComponent(path)).drop { heading != nil && $0 != heading }
    let known = try Set(lines(of: URL(fileURLWithPath: tests)))
    var isCode = false
    var code: [String] = []
    for line in article {
      if line.hasPrefix("```") {
        isCode = line == "```swift"
      } else if isCode, !line.isEmpty {
        code.append(line)
      }
    }
    return (code.filter { !known.contains($0) }, code.count)
  }

  private static func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }
}

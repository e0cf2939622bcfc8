import Foundation

/// The Swift code that an article of the documentation shows, held against the tests that run it.
public enum ArticleCode {
  /// The lines of code that stand in an article and in no line of a file of tests; blanks around them don't count.
  ///
  /// - Parameters:
  ///   - path: the article, within the package.
  ///   - tests: a file that runs the article's code, such as `#filePath`.
  /// - Returns: those lines, and how many lines of code there are in all.
  public static func missing(from tests: String, inArticle path: String) throws -> (lines: [String], shown: Int) {
    let article = try lines(of: PackageFolder.url.appendingPathComponent(path))
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

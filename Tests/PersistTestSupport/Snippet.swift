public import Foundation
public import Testing

/// A source file that isn't part of the package: a test compiles it against the built modules and compares the
/// compiler's errors with those that its comments expect.
///
/// ```swift
/// import Persist
///
/// func keep(_ object: ManagedObject, on shelf: Shelf) async {
///   await shelf.keep(object)  // expect-error: sending 'object' risks causing data races
/// }
/// ```
///
/// The text after `expect-error:` must be part of an error on that line. A file without such a comment must compile. A
/// first line `// compile-with: -default-isolation MainActor` passes further arguments to the compiler. Snippets are in
/// `Tests/Snippets`, in a folder for each subject; a new file there is a new case.
public struct Snippet: Sendable, CustomTestStringConvertible {
  public let url: URL

  public var testDescription: String { url.deletingPathExtension().lastPathComponent }

  /// The snippets of a folder in `Tests/Snippets`, by name.
  public static func all(in folder: String) -> [Snippet] {
    let folder = PackageFolder.url.appendingPathComponent("Tests/Snippets/\(folder)")
    let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "swift" }.map(Snippet.init)
      .sorted { $0.url.lastPathComponent < $1.url.lastPathComponent }
  }

  /// An error on a line.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    public let line: Int
    public let text: String
    public var description: String { "line \(line): \(text)" }
  }

  public func expectedErrors() throws -> [Finding] {
    let mark = "// expect-error: "
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated().compactMap { index, line in
        line.range(of: mark).map { Finding(line: index + 1, text: String(line[$0.upperBound...])) }
      }
  }

  /// The compiler arguments in the first line.
  public func compilerArguments() throws -> [String] {
    let mark = "// compile-with: "
    guard let line = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").first, line.hasPrefix(mark)
    else { return [] }
    return line.dropFirst(mark.count).split(separator: " ").map(String.init)
  }

  /// The differences between the errors that the file expects and those of the compiler, in words.
  public func mismatches(compiledBy compiler: SnippetCompiler) throws -> [String] {
    let expected = try expectedErrors()
    let found = try compiler.errors(in: url, compiledWith: compilerArguments())
    let missing = expected.filter { expected in
      !found.contains { $0.line == expected.line && $0.text.contains(expected.text) }
    }
    let surplus = found.filter { found in
      !expected.contains { $0.line == found.line && found.text.contains($0.text) }
    }
    return missing.map { "not refused: \($0)" } + surplus.map { "refused: \($0)" }
  }
}

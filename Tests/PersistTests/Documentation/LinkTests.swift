import Foundation
import PersistTestSupport
import Testing

/// Articles and pages of the repository are plain Markdown, so that they read well wherever the repository is shown.
@Suite("Links of the documentation")
struct LinkTests {
  @Test("Every relative link and picture leads to a file, and to a heading that exists in it")
  func links() throws {
    var count = 0
    for page in try Self.pages() {
      let text = try String(contentsOf: page, encoding: .utf8)
      for target in Self.targets(in: text) {
        count += 1
        let parts = target.split(separator: "#", omittingEmptySubsequences: false)
        let path = parts[0].removingPercentEncoding ?? ""
        let file = path.isEmpty ? page : page.deletingLastPathComponent().appendingPathComponent(path)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(page.lastPathComponent) links to \(target)")
        guard parts.count > 1, file.pathExtension == "md" else { continue }
        let anchors = Self.anchors(in: try String(contentsOf: file, encoding: .utf8))
        #expect(anchors.contains(String(parts[1])), "\(page.lastPathComponent) links to \(target)")
      }
    }
    #expect(count > 50)
  }

  @Test("No link has a form that only the documentation compiler understands")
  func plainForm() throws {
    for page in try Self.pages() {
      let text = try String(contentsOf: page, encoding: .utf8)
      #expect(!text.contains("<doc:") && !text.contains("](doc:"), "\(page.lastPathComponent)")
    }
  }

  @Test("Targets are found in links and pictures, and not in code or on the web")
  func targetsInText() {
    let text = """
      See [Errors](Errors.md#codes), ![a picture](Resources/a.svg) and <https://swift.org>.
      `[Int](repeating: 0, count: 3)` and [Swift](https://swift.org), [below](#below).
      ```swift
      let numbers = [Int](numbers)
      ```
      """
    #expect(Self.targets(in: text) == ["Errors.md#codes", "Resources/a.svg", "#below"])
    #expect(Self.anchors(in: "# `A` b-c: d!\n```sh\n# no\n```\n## E\n## E") == ["a-b-c-d", "e", "e-1"])
  }

  /// The anchors that sites for repositories give to headings.
  private static func anchors(in text: String) -> Set<String> {
    var (isCode, counts) = (false, [String: Int]())
    return Set(
      text.split(separator: "\n").compactMap { line -> String? in
        if line.hasPrefix("```") { isCode.toggle() }
        guard !isCode, let title = line.wholeMatch(of: /#{1,6} +(.+)/)?.1 else { return nil }
        let kept = title.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
        let anchor = kept.replacing(" ", with: "-")
        counts[anchor, default: 0] += 1
        return counts[anchor] == 1 ? anchor : "\(anchor)-\(counts[anchor, default: 1] - 1)"
      })
  }

  /// The Markdown files of the repository, without those of builds.
  private static func pages() throws -> [URL] {
    let root = PackageFolder.url
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    var pages: [URL] = []
    for case let file as URL in files {
      if file.lastPathComponent.hasPrefix(".build") { files.skipDescendants() }
      if file.pathExtension == "md" { pages.append(file) }
    }
    #expect(pages.count > 20)
    return pages
  }

  /// The targets of links and pictures that aren't on the web, outside of code.
  private static func targets(in text: String) -> [String] {
    var isCode = false
    return text.split(separator: "\n").flatMap { line -> [String] in
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      guard !isCode else { return [] }
      let prose = line.replacing(/`[^`]*`/, with: "")
      return prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
        .filter { !$0.hasPrefix("http") && !$0.hasPrefix("mailto:") }
    }
  }
}

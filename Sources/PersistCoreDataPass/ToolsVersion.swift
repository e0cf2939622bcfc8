/// The version of SwiftPM's tools in the first line of a manifest.
struct ToolsVersion: Comparable, CustomStringConvertible {
  let major: Int
  let minor: Int
  /// The line that declares it.
  private(set) var line = ""

  /// The first version with plugins in manifests.
  static let withPlugins = ToolsVersion(major: 5, minor: 6)

  private init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

  /// Reads the version; nil without one.
  init?(of manifest: String) {
    guard let line = manifest.split(separator: "\n", omittingEmptySubsequences: false).first,
      let colon = line.firstIndex(of: ":"),
      line[..<colon].filter({ $0 != " " }).lowercased() == "//swift-tools-version"
    else { return nil }
    let numbers = line[line.index(after: colon)...].prefix { $0 != ";" }.filter { $0 != " " }.split(separator: ".")
    guard let major = numbers.first.flatMap({ Int($0) }) else { return nil }
    self.init(major: major, minor: numbers.dropFirst().first.flatMap { Int($0) } ?? 0)
    self.line = String(line)
  }

  /// Returns a manifest with another first line.
  static func replacingLine(of manifest: String, with line: String) -> String {
    line + (manifest.firstIndex(of: "\n").map { String(manifest[$0...]) } ?? "")
  }

  static func < (left: Self, right: Self) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
  static func == (left: Self, right: Self) -> Bool { (left.major, left.minor) == (right.major, right.minor) }

  var description: String { "\(major).\(minor)" }
}

import Foundation

/// The files in which Linux reports figures, one a line: a name, a colon and a value.
enum SystemFile {
  /// Returns the first value of a name; nil if the system doesn't report it in this way.
  static func value(_ name: String, in path: String) -> String? {
    let information = try? String(contentsOfFile: path, encoding: .utf8)
    let line = information?.split(separator: "\n").first { line in
      line.prefix { $0 != ":" }.trimmingCharacters(in: .whitespaces) == name
    }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }

  /// Returns a value in kilobytes as bytes.
  static func bytes(_ name: String, in path: String) -> Int? {
    value(name, in: path)?.split(separator: " ").first.flatMap { Int($0) }.map { $0 << 10 }
  }
}

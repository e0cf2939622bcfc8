/// Lines of text that fit into a terminal.
enum LineWrapping {
  /// Breaks long lines at spaces. The rest of a line is indented to its last column if it has columns, which two spaces
  /// separate, and otherwise a little more than the line itself.
  ///
  /// Words that are longer than a line, and lines with control characters, stay as they are.
  static func wrapped(_ text: String, width: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.count <= width || line.contains("\u{1B}") ? String(line) : wrapped(line, width: width)
    }.joined(separator: "\n")
  }

  private static func wrapped(_ line: Substring, width: Int) -> String {
    let indent = min(continuation(of: line), width / 2)
    var lines: [String] = []
    var rest = line
    while true {
      let available = lines.isEmpty ? width : width - indent
      guard rest.count > available else { break }
      let limit = rest.index(rest.startIndex, offsetBy: available)
      guard let end = breakingPoint(in: rest.drop { $0 == " " }, before: limit) else { break }
      lines.append(String(rest[..<end]))
      rest = rest[end...].drop { $0 == " " }
    }
    lines.append(String(rest))
    return lines.enumerated().map { index, part in
      let part = String(part.reversed().drop { $0 == " " }.reversed())
      return index == 0 ? part : String(repeating: " ", count: indent) + part
    }.joined(separator: "\n")
  }

  /// The last space at or before a limit, or else the first one after it; nil without any.
  private static func breakingPoint(in text: Substring, before limit: Substring.Index) -> Substring.Index? {
    if text.startIndex < limit, let end = text[..<text.index(after: limit)].lastIndex(of: " ") { return end }
    return text.firstIndex(of: " ")
  }

  private static func continuation(of line: Substring) -> Int {
    let own = line.prefix { $0 == " " }.count
    let text = line.dropFirst(own)
    guard let gap = text.ranges(of: "  ").last else { return own + 4 }
    let column = text[gap.upperBound...].drop { $0 == " " }
    return own + text.distance(from: text.startIndex, to: column.startIndex)
  }
}

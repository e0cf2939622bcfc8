/// A text or excerpt with the matches of a full-text query.
///
/// ```swift
/// if let excerpt = try note.excerpt(of: "body", matching: "tea", wordCount: 10) {
///   print(excerpt.marked("[", "]"))   // …a cup of [tea] in the morning…
/// }
/// ```
public struct TextExcerpt: Sendable, Hashable {
  /// The text, with `…` in place of omitted parts.
  public let text: String
  /// The ranges of the matches, in order.
  public let matches: [Range<String.Index>]

  /// The text with marks around the matches. The marks shouldn't occur in the text; for HTML, escape the parts between
  /// them.
  public func marked(_ start: String, _ end: String) -> String {
    var result = ""
    var position = text.startIndex
    for match in matches {
      result += text[position..<match.lowerBound] + start + text[match] + end
      position = match.upperBound
    }
    return result + text[position...]
  }

  /// The parts of the text in order, each with whether it is a match.
  public var parts: [(text: Substring, isMatch: Bool)] {
    var parts: [(text: Substring, isMatch: Bool)] = []
    var position = text.startIndex
    for match in matches {
      if position < match.lowerBound { parts.append((text[position..<match.lowerBound], false)) }
      parts.append((text[match], true))
      position = match.upperBound
    }
    if position < text.endIndex { parts.append((text[position...], false)) }
    return parts
  }
}

extension TextExcerpt {
  /// Extracts the matches from a text with marks.
  package init(marked: String, start: String, end: String) {
    var bytes: [UInt8] = []
    var offsets: [(Int, Int)] = []
    var opened: Int?
    // Compares bytes: a combining character after a mark would form one character with it.
    let (marked, start, end) = (Array(marked.utf8), Array(start.utf8), Array(end.utf8))
    var rest = marked[...]
    while let byte = rest.first {
      if byte == start[0], rest.starts(with: start) {
        opened = bytes.count
        rest = rest.dropFirst(start.count)
      } else if byte == end[0], rest.starts(with: end) {
        if let begin = opened { offsets.append((begin, bytes.count)) }
        opened = nil
        rest = rest.dropFirst(end.count)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    self.text = text
    matches = offsets.map { begin, end in
      let utf8 = text.utf8
      return utf8.index(utf8.startIndex, offsetBy: begin)..<utf8.index(utf8.startIndex, offsetBy: end)
    }
  }
}

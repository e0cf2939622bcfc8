/// A piece of a Swift source.
struct SwiftToken: Equatable {
  enum Kind: Equatable {
    case identifier
    case number
    /// A part of a string literal; its interpolations are tokens of their own.
    case text
    case comment
    case newline
    case punctuation
  }

  let kind: Kind
  /// The place in the source's UTF-8 bytes.
  let range: Range<Int>
  let text: String

  func isPunctuation(_ text: String) -> Bool { kind == .punctuation && self.text == text }
  func isWord(_ text: String) -> Bool { kind == .identifier && self.text == text }
}

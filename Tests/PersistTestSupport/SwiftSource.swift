public import Foundation

/// A Swift file, parsed as far as the tests of the sources need it: identifiers, string literals and declared types,
/// each with its line. Comments are dropped.
public struct SwiftSource: Sendable {
  public struct Token: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
      case identifier
      /// A string literal; its text without interpolations.
      case literal
      case punctuation
    }

    public let kind: Kind
    public let text: String
    public let line: Int
  }

  /// A type that the file declares.
  public struct Declaration: Sendable, Hashable {
    public let name: String
    /// The dotted name of the type or extension around it; nil at file level.
    public let enclosing: String?
    public let isPrivate: Bool
    public let line: Int
  }

  public let url: URL
  public let lines: [Substring]
  public let tokens: [Token]
  public let declarations: [Declaration]

  public init(_ url: URL) throws {
    try self.init(url, text: String(contentsOf: url, encoding: .utf8))
  }

  public init(_ url: URL, text: String) {
    self.url = url
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var scanner = SwiftScanner(text)
    tokens = scanner.scan()
    declarations = Self.declarations(in: tokens)
  }

  /// Every Swift file below a folder, in path order, without the code of documentation catalogs, which isn't built.
  public static func files(in folder: URL) throws -> [SwiftSource] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
      .map { try SwiftSource(folder.appendingPathComponent($0)) }
  }

  private static let typeKeywords: Set = ["struct", "class", "enum", "protocol", "actor", "typealias", "extension"]

  /// Walks the tokens and keeps a stack of the types and extensions that are open.
  private static func declarations(in tokens: [Token]) -> [Declaration] {
    var found: [Declaration] = []
    // A scope's name is nil if the brace belongs to a function, a closure or the like.
    var scopes: [String?] = []
    var opening: String?
    var isPrivate = false
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      defer { index += 1 }
      switch (token.kind, token.text) {
      case (.punctuation, "{"):
        scopes.append(opening)
        opening = nil
      case (.punctuation, "}"):
        if !scopes.isEmpty { scopes.removeLast() }
        isPrivate = false
      case (.identifier, "private"), (.identifier, "fileprivate"):
        isPrivate = true
      case (.identifier, "let"), (.identifier, "var"), (.identifier, "func"), (.identifier, "init"):
        isPrivate = false
      case (.identifier, let keyword) where typeKeywords.contains(keyword):
        // `class func`, `.class`, `enum` as a label and the like declare no type.
        guard index + 1 < tokens.count, tokens[index + 1].kind == .identifier,
          index == 0 || tokens[index - 1].text != ".",
          !["func", "var", "let", "subscript"].contains(tokens[index + 1].text)
        else { continue }
        var name = tokens[index + 1].text
        var next = index + 2
        while keyword == "extension", next + 1 < tokens.count, tokens[next].text == ".",
          tokens[next + 1].kind == .identifier
        {
          name += "." + tokens[next + 1].text
          next += 2
        }
        if keyword != "extension", !scopes.contains(nil) {
          let enclosing = scopes.compactMap { $0 }.joined(separator: ".")
          found.append(
            Declaration(
              name: name, enclosing: enclosing.isEmpty ? nil : enclosing, isPrivate: isPrivate, line: token.line))
        }
        if keyword != "typealias" { opening = name }
        isPrivate = false
      default: break
      }
    }
    return found
  }
}

extension SwiftSource {
  /// The public declarations without a doc comment above them and their attributes, each with its line and text.
  ///
  /// Overrides need none, nor do members that only satisfy a protocol of the standard library.
  public var undocumentedDeclarations: [(line: Int, text: String)] {
    PublicDeclarations(tokens: tokens, lines: lines).undocumented
  }
}

/// The search for a file's public declarations.
private struct PublicDeclarations {
  let tokens: [SwiftSource.Token]
  let lines: [Substring]

  /// A pair of braces, by the declarations that are public in it.
  private enum Scope {
    /// A function, a closure or an accessor: none.
    case body
    /// A type, an extension or the file: those marked as public.
    case type
    /// A public enumeration: also its cases.
    case publicEnumeration
    /// A public protocol: all requirements.
    case publicProtocol
    /// A public extension: all but those marked otherwise.
    case publicExtension
  }

  private static let typeKeywords: Set<String> = ["class", "struct", "enum", "actor", "protocol", "extension"]
  private static let memberKeywords: Set<String> = [
    "func", "var", "let", "init", "subscript", "typealias", "associatedtype", "case",
  ]
  private static let restrictions: Set<String> = ["private", "fileprivate", "internal", "package"]
  private static let modifiers: Set<String> = [
    "public", "open", "private", "fileprivate", "internal", "package", "static", "class", "final", "override",
    "mutating", "nonmutating", "convenience", "required", "lazy", "weak", "unowned", "nonisolated", "dynamic",
    "indirect", "prefix", "postfix", "infix", "consuming", "borrowing",
  ]
  /// Members by which a type satisfies a protocol of the standard library, Foundation or the language.
  private static let witnesses: Set<String> = [
    "hash", "encode", "description", "debugDescription", "errorDescription", "recoverySuggestion", "rawValue",
    "Element", "Failure", "next", "makeIterator", "makeAsyncIterator", "startIndex", "endIndex", "unownedExecutor",
    "enqueue", "buildExpression", "buildBlock", "buildOptional", "buildEither", "buildArray",
  ]

  var undocumented: [(line: Int, text: String)] {
    var found: [(line: Int, text: String)] = []
    // With the depth of parentheses around the braces, so that a regex literal's don't count beyond its function.
    var scopes: [(scope: Scope, depth: Int)] = []
    var opening = Scope.body
    var depth = 0
    for index in tokens.indices {
      let token = tokens[index]
      if token.kind == .punctuation {
        switch token.text {
        case "{":
          scopes.append((scope: opening, depth: depth))
          opening = .body
          depth = 0
        case "}":
          depth = scopes.popLast()?.depth ?? 0
          // The end of a declaration at file level, even if a regex literal contains a brace.
          if lines[token.line - 1].hasPrefix("}") {
            scopes = []
            depth = 0
          }
        case "(", "[": depth += 1
        case ")", "]": depth -= 1
        default: break
        }
        continue
      }
      let scope = scopes.last?.scope ?? .type
      guard depth == 0, scope != .body, isDeclaration(index) else { continue }
      let start = beginning(of: index)
      let modifiers = Set(tokens[start..<index].map { $0.text })
      let isPublic = isVisible(token.text, modifiers, in: scope)
      if Self.typeKeywords.contains(token.text) { opening = content(of: token.text, isPublic: isPublic) }
      guard isPublic, token.text != "extension", !modifiers.contains("override"), !isWitness(index) else { continue }
      if !isDocumented(start) {
        found.append((line: token.line, text: String(lines[token.line - 1].drop(while: { $0 == " " }))))
      }
    }
    return found
  }

  private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

  private func isDeclaration(_ index: Int) -> Bool {
    guard tokens[index].kind == .identifier, ![".", "`"].contains(text(index - 1)) else { return false }
    if Self.memberKeywords.contains(tokens[index].text) { return true }
    // `class func` has a modifier, and `actor:` is a name.
    return Self.typeKeywords.contains(tokens[index].text) && tokens.indices.contains(index + 1)
      && tokens[index + 1].kind == .identifier && !Self.memberKeywords.contains(text(index + 1))
  }

  private func isVisible(_ keyword: String, _ modifiers: Set<String>, in scope: Scope) -> Bool {
    if modifiers.contains("public") || modifiers.contains("open") { return true }
    switch scope {
    case .body, .type: return false
    case .publicEnumeration: return keyword == "case"
    case .publicProtocol: return true
    case .publicExtension: return modifiers.isDisjoint(with: Self.restrictions)
    }
  }

  private func content(of keyword: String, isPublic: Bool) -> Scope {
    guard isPublic else { return .type }
    switch keyword {
    case "enum": return .publicEnumeration
    case "protocol": return .publicProtocol
    case "extension": return .publicExtension
    default: return .type
    }
  }

  private func isWitness(_ index: Int) -> Bool {
    switch tokens[index].text {
    case "init":
      let labels = tokens[index...].dropFirst().prefix(5).filter { $0.kind == .identifier }.map { $0.text }
      guard let first = labels.first else { return false }
      return first == "rawValue" || first.hasSuffix("Literal") || labels.starts(with: ["from", "decoder"])
    case "func" where text(index + 1) == "=": return text(index + 2) == "="
    case "func" where text(index + 1) == "<": return text(index + 2) == "("
    case "func", "var", "let", "typealias": return Self.witnesses.contains(text(index + 1))
    default: return false
    }
  }

  private func isDocumented(_ index: Int) -> Bool {
    // The only member of an extension on one line satisfies a protocol.
    if index > 0, tokens[index - 1].line == tokens[index].line { return true }
    func begins(_ line: Int, with text: String) -> Bool {
      lines.indices.contains(line) && lines[line].drop(while: { $0 == " " }).hasPrefix(text)
    }
    var above = tokens[index].line - 2
    // Attributes that not all compilers know are between the comment and the declaration.
    if begins(above, with: "#endif") {
      while above > 0, !begins(above, with: "#if") { above -= 1 }
      above -= 1
    }
    return begins(above, with: "///")
  }

  /// Returns the first token of a declaration: that of its attributes and modifiers.
  private func beginning(of index: Int) -> Int {
    var start = index
    while start > 0 {
      var name = start - 1
      if tokens[name].kind == .punctuation, tokens[name].text == ")" {
        guard let parenthesis = openingParenthesis(of: name) else { break }
        name = parenthesis - 1
      }
      if text(name - 1) == "@" {
        start = name - 1
      } else if Self.modifiers.contains(text(name)), !["case", ",", "."].contains(text(name - 1)) {
        start = name
      } else {
        break
      }
    }
    return start
  }

  private func openingParenthesis(of index: Int) -> Int? {
    var depth = 0
    for candidate in (0...index).reversed() where tokens[candidate].kind == .punctuation {
      if tokens[candidate].text == ")" { depth += 1 }
      if tokens[candidate].text == "(" { depth -= 1 }
      if depth == 0 { return candidate }
    }
    return nil
  }
}

import Foundation

/// Finds the places of a source that have to change.
struct SourceEditor {
  struct Edit {
    let range: Range<Int>
    let replacement: String
  }

  let bytes: [UInt8]
  let file: String
  private let tokens: [SwiftToken]
  /// The tokens without comments and line ends, which the rules look at.
  let code: [SwiftToken]
  let importsCoreData: Bool
  private(set) var edits: [Edit] = []
  private(set) var findings: [CoreDataPass.Finding] = []
  /// The open blocks.
  var blocks: [Block] = []
  /// The selectors of methods with an `@objc` attribute by the index of `func`; nil for one that follows from the name.
  var objectiveCMethods: [Int: String?] = [:]
  /// The indexes of `var` and `let` with an `@objc` attribute.
  var objectiveCVariables: Set<Int> = []
  /// The indexes of `#` in front of selectors that are replaced together with their arguments.
  var replacedSelectors: Set<Int> = []
  /// The indexes of `class` behind `@objcMembers`.
  private(set) var memberClasses: Set<Int> = []
  var dispatches = ManagedDispatches()

  struct Block {
    let isClass: Bool
    /// The end of the opening brace.
    let start: Int
    /// The type, for the body of a class or of an extension.
    var type: DeclaredType?
    var hasOriginInitializer = false
  }

  init(_ source: String, file: String) {
    bytes = Array(source.utf8)
    self.file = file
    tokens = SwiftTokenizer.tokens(of: source)
    code = tokens.filter { $0.kind != .comment && $0.kind != .newline }
    importsCoreData = zip(code, code.dropFirst()).contains { $0.isWord("import") && $1.isWord("CoreData") }
  }

  var editedText: String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var position = 0
    for edit in edits.enumerated().sorted(by: {
      ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
    }).map(\.element) where edit.range.lowerBound >= position {
      result += bytes[position..<edit.range.lowerBound]
      result += Array(edit.replacement.utf8)
      // Removed line ends come back, so that every line stays a line.
      result += bytes[edit.range].filter { $0 == UInt8(ascii: "\n") }
      position = edit.range.upperBound
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  mutating func run() {
    var index = 0
    while index < code.count {
      let token = code[index]
      switch token.kind {
      case .punctuation where token.text == "@": index = attribute(at: index)
      case .punctuation where token.text == "#": index = directive(at: index)
      case .punctuation where token.text == "{":
        let type = openedType(at: index)
        if let type, type.isClass { dispatches.add(type, file: file, start: token.range.upperBound) }
        blocks.append(Block(isClass: type?.isClass == true, start: token.range.upperBound, type: type))
        index += 1
      case .punctuation where token.text == "}":
        _ = blocks.popLast()
        index += 1
      case .identifier:
        word(at: index)
        index += 1
      case .text:
        resourceName(in: token)
        index += 1
      default: index += 1
      }
    }
  }

  /// Adds the declarations that follow from the module's other files.
  mutating func complete(with dispatches: ManagedDispatches) {
    for declaration in dispatches.declarations where declaration.file == file {
      replace(declaration.start..<declaration.start, with: declaration.text)
    }
    for method in self.dispatches.validations(withoutClassIn: dispatches) { report(.pointerValidation, at: method) }
    let overrides = self.dispatches.overrides(in: dispatches)
    for token in overrides.uncovered { report(.extensionOverride, at: token) }
    for edit in overrides.edits { replace(edit.range, with: edit.replacement) }
  }

  /// Xcode compiles models under other extensions; here, resources are the models' sources.
  private mutating func resourceName(in token: SwiftToken) {
    for (compiled, source) in [("momd", "xcdatamodeld"), ("mom", "xcdatamodel"), ("cdm", "xcmappingmodel")] {
      guard token.text == "\"\(compiled)\"" || token.text.hasSuffix(".\(compiled)\"") else { continue }
      let end = token.range.upperBound - 1
      replace((end - compiled.utf8.count)..<end, with: source)
    }
  }

  func token(_ index: Int) -> SwiftToken? { code.indices.contains(index) ? code[index] : nil }

  mutating func replace(_ range: Range<Int>, with text: String) {
    edits.append(Edit(range: range, replacement: text))
  }

  mutating func report(_ problem: UncoveredPart, at token: SwiftToken) {
    let line = bytes[..<token.range.lowerBound].reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    findings.append(CoreDataPass.Finding(file: file, line: line, problem: problem))
  }

  /// The index after the parenthesis that closes the one at an index.
  func end(ofParentheses index: Int) -> Int {
    var depth = 0
    var index = index
    while let token = token(index) {
      if token.isPunctuation("(") { depth += 1 }
      if token.isPunctuation(")") {
        depth -= 1
        if depth == 0 { return index + 1 }
      }
      index += 1
    }
    return index
  }

  /// The end of a range with the spaces behind it.
  func withSpaces(_ position: Int) -> Int {
    var position = position
    while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    return position
  }
}

// Attributes
extension SourceEditor {
  mutating func attribute(at index: Int) -> Int {
    guard let name = token(index + 1), name.kind == .identifier,
      name.range.lowerBound == code[index].range.upperBound
    else { return index + 1 }
    switch name.text {
    case "objc", "objcMembers": return dropObjectiveC(at: index)
    case "NSManaged": return managed(at: index)
    case "NSCopying", "IBOutlet", "IBAction", "IBInspectable", "IBDesignable", "GKInspectable":
      replace(code[index].range.lowerBound..<withSpaces(name.range.upperBound), with: "")
      return index + 2
    default: return index + 2
    }
  }

  private mutating func dropObjectiveC(at index: Int) -> Int {
    var next = index + 2
    var name: String?
    var selector: String?
    let isCalled = token(next)?.isPunctuation("(") == true
      && token(next)?.range.lowerBound == code[index + 1].range.upperBound
    if isCalled {
      let end = end(ofParentheses: next)
      if end - next == 3 { name = code[next + 1].text }
      selector = code[(next + 1)..<max(next + 1, end - 1)].map(\.text).joined()
      next = end
    }
    let end = withSpaces(code[next - 1].range.upperBound)
    replace(code[index].range.lowerBound..<end, with: "")
    if token(next)?.isWord("optional") == true { report(.optionalRequirements, at: code[index]) }
    let declaration = self.declaration(after: next)
    if token(declaration)?.isWord("func") == true { objectiveCMethods[declaration] = .some(selector) }
    if ["var", "let"].contains(token(declaration)?.text) { objectiveCVariables.insert(declaration) }
    if code[index + 1].text == "objcMembers" { memberClasses.insert(declaration) }
    if let name, let brace = classBrace(after: next), brace.name != name {
      replace(brace.position..<brace.position, with: " enum ObjectiveCName_\(name) {}")
    }
    return next
  }

  /// The opening brace of the class whose declaration begins at an index.
  private func classBrace(after index: Int) -> (position: Int, name: String)? {
    var index = declaration(after: index)
    guard token(index)?.isWord("class") == true, let name = token(index + 1), name.kind == .identifier,
      !["func", "var", "subscript"].contains(name.text)
    else { return nil }
    while let token = token(index), !token.isPunctuation("{") { index += 1 }
    return token(index).map { ($0.range.upperBound, name.text) }
  }

  /// The index of a declaration's keyword behind attributes and modifiers.
  func declaration(after index: Int) -> Int {
    var index = index
    while let token = token(index), token.isPunctuation("@") || Self.modifiers.contains(token.text) {
      index += token.isPunctuation("@") ? 2 : 1
      if token.isPunctuation("@") || token.text == "private" || token.text == "public",
        self.token(index)?.isPunctuation("(") == true
      {
        index = end(ofParentheses: index)
      }
    }
    return index
  }

  static let modifiers: Set<String> = [
    "public", "private", "internal", "fileprivate", "open", "package", "final", "override", "required", "convenience",
    "static", "lazy", "weak", "unowned", "mutating", "nonmutating", "nonisolated", "indirect", "dynamic", "optional",
  ]
}

// Directives
extension SourceEditor {
  private mutating func directive(at index: Int) -> Int {
    guard let name = token(index + 1), token(index + 2)?.isPunctuation("(") == true else { return index + 1 }
    let end = end(ofParentheses: index + 2)
    if replacedSelectors.contains(index) { return end }
    let inside = index + 3 < end - 1 ? Array(code[(index + 3)..<(end - 1)]) : []
    let range = code[index].range.lowerBound..<code[end - 1].range.upperBound
    switch name.text {
    case "keyPath": replace(range, with: "\"\(Self.keyPath(inside))\"")
    case "selector": replace(range, with: "Selector(\"\(selector(inside, at: code[index]))\")")
    default: return index + 2
    }
    return end
  }

  /// The keys behind the types of a key path.
  private static func keyPath(_ tokens: [SwiftToken]) -> String {
    let words = tokens.filter { $0.kind == .identifier }.map { $0.text.trimmingCharacters(in: ["`"]) }
    let keys = words.drop { word in word == "self" || word.first?.isUppercase == true }
    return (keys.isEmpty ? words[...] : keys).joined(separator: ".")
  }

  private mutating func selector(_ tokens: [SwiftToken], at place: SwiftToken) -> String {
    if let first = tokens.first, ["getter", "setter"].contains(first.text), tokens.count > 2 {
      let key = Self.keyPath(Array(tokens.dropFirst(2)))
      guard first.text == "setter" else { return key }
      return "set\(key.prefix(1).uppercased())\(key.dropFirst()):"
    }
    // The last name in front of the parentheses, with the labels in them.
    let names = tokens.prefix { !$0.isPunctuation("(") }.filter { $0.kind == .identifier }.map(\.text)
    let labels = tokens.drop { !$0.isPunctuation("(") }.filter { $0.kind == .identifier }.map(\.text)
    let name = names.last ?? ""
    if !Self.comparisons.contains(name) { report(.selectors, at: place) }
    return name + labels.map { ($0 == "_" ? "" : $0) + ":" }.joined()
  }

  private static let comparisons: Set<String> = [
    "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
    "localizedStandardCompare",
  ]
}

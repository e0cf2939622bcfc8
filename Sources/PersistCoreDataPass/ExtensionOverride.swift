/// A method or property that an extension overrides, which Swift allows for members of Objective-C only.
struct ExtensionOverride {
  /// The name that the extension's member gets.
  let ownName: String
  /// The class's override, which calls the extension's member.
  let declaration: String

  /// Reads a declaration.
  ///
  /// - Parameters:
  ///   - code: The tokens of the source.
  ///   - index: The index of `func` or `var`; nil for other members and for properties with observers.
  ///   - type: The class.
  ///   - end: Returns the index behind the parenthesis that closes the one at an index.
  init?(_ code: [SwiftToken], at index: Int, of type: String, end: (Int) -> Int) {
    guard code.indices.contains(index + 2), code[index + 1].kind == .identifier else { return nil }
    let name = code[index + 1].text
    ownName = "managed_\(type)_\(name)"
    let isStatic = index > 0 && ["class", "static"].contains(code[index - 1].text)
    let scope = isStatic ? "class " : ""
    switch code[index].text {
    case "var":
      guard code[index + 2].isPunctuation(":"),
        let brace = code[index...].firstIndex(where: { $0.isPunctuation("{") })
      else { return nil }
      let type = Self.text(code[(index + 3)..<brace])
      let accessors = Self.accessors(code[(brace + 1)...])
      guard accessors.isDisjoint(with: ["willSet", "didSet"]) else { return nil }
      let body = accessors.contains("set") ? "get { \(ownName) } set { \(ownName) = newValue }" : ownName
      declaration = " public override \(scope)var \(name): \(type) { \(body) }"
    case "func":
      guard code[index + 2].isPunctuation("(") else { return nil }
      let close = end(index + 2)
      let brace = code[close...].firstIndex { $0.isPunctuation("{") } ?? close
      let signature = Self.text(code[(index + 2)..<brace])
      let arguments = Self.arguments(code[(index + 3)..<max(index + 3, close - 1)])
      let isThrowing = code[close..<brace].contains { $0.isWord("throws") || $0.isWord("rethrows") }
      declaration =
        " public override \(scope)func \(name)\(signature) { \(isThrowing ? "try " : "")\(ownName)(\(arguments)) }"
    default: return nil
    }
  }

  /// The accessors in a property's body; none if the body is that of a getter.
  private static func accessors(_ body: ArraySlice<SwiftToken>) -> Set<String> {
    let names: Set<String> = ["get", "set", "willSet", "didSet", "_read", "_modify"]
    var found: Set<String> = []
    var depth = 0
    for (index, token) in zip(body.indices, body) {
      switch token.text {
      case "{", "(", "[": depth += 1
      case "}", ")", "]":
        depth -= 1
        if depth < 0 { return found }
      case let name where depth == 0 && names.contains(name):
        // The first word of a getter's body may have the name of an accessor.
        let next = body.indices.contains(index + 1) ? body[index + 1].text : ""
        if ["{", "(", "throws", "async"].contains(next) { found.insert(name) }
      default: break
      }
    }
    return found
  }

  private static func text(_ tokens: ArraySlice<SwiftToken>) -> String {
    var text = ""
    var position: Int?
    for token in tokens {
      if let position, position < token.range.lowerBound { text += " " }
      text += token.text
      position = token.range.upperBound
    }
    return text
  }

  /// The arguments that pass a method's parameters on.
  private static func arguments(_ tokens: ArraySlice<SwiftToken>) -> String {
    var arguments: [String] = []
    var words: [String] = []
    var depth = 0
    var isType = false
    func finish() { if let name = words.last { arguments.append(argument(words.first ?? name, name)) } }
    for token in tokens {
      switch token.text {
      case "(", "[", "<", "{": depth += 1
      case ")", "]", "}": depth -= 1
      case ">": depth = max(0, depth - 1)
      case ":" where depth == 0: isType = true
      case "," where depth == 0:
        finish()
        (words, isType) = ([], false)
      default: if !isType, depth == 0, token.kind == .identifier { words.append(token.text) }
      }
    }
    finish()
    return arguments.joined(separator: ", ")
  }

  private static func argument(_ label: String, _ name: String) -> String {
    label == "_" ? name : "\(label): \(name)"
  }
}

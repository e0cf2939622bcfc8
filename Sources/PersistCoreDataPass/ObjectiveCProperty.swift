/// A property of a managed object's class that Objective-C's runtime would find by its key.
struct ObjectiveCProperty {
  let name: String
  private let isSettable: Bool
  /// Whether it is a method without parameters, which is a key, too.
  private let isMethod: Bool

  /// Reads a declaration.
  ///
  /// - Parameters:
  ///   - code: The tokens of the source.
  ///   - index: The index of `var`, `let` or `func`.
  init?(_ code: [SwiftToken], at index: Int) {
    guard code.indices.contains(index + 2), code[index + 1].kind == .identifier else { return nil }
    name = code[index + 1].text
    isMethod = code[index].isWord("func")
    if isMethod {
      guard code[index + 2].isPunctuation("("), code.indices.contains(index + 5), code[index + 3].isPunctuation(")"),
        code[index + 4].isPunctuation("-"), code[index + 5].isPunctuation(">")
      else { return nil }
      isSettable = false
    } else {
      isSettable = code[index].isWord("var") && Self.isSettable(code, after: index + 2)
    }
  }

  /// Whether a variable is stored or has a setter.
  private static func isSettable(_ code: [SwiftToken], after index: Int) -> Bool {
    var depth = 0
    for (index, token) in code[index...].enumerated().map({ (index + $0.offset, $0.element) }) {
      switch token.text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "=" where depth == 0: return true
      case "{" where depth == 0: return hasSetter(code, after: index + 1)
      case "var", "let", "func", "}", "@", "init", "class", ";": if depth == 0 { return true }
      default: break
      }
    }
    return true
  }

  private static func hasSetter(_ code: [SwiftToken], after index: Int) -> Bool {
    var depth = 0
    for token in code[index...] {
      switch token.text {
      case "{": depth += 1
      case "}":
        if depth == 0 { return false }
        depth -= 1
      case "set", "willSet", "didSet": if depth == 0 { return true }
      default: break
      }
    }
    return false
  }

  /// The entry in a class's list of properties.
  func declaration(in type: String) -> String {
    let key = name.filter { $0 != "`" }
    let value = "(object: \(type)) in object.\(name)\(isMethod ? "()" : "")"
    let set = isSettable ? ", set: { (object: \(type), value) in object.\(name) = value.value() }" : ""
    return "ManagedProperty(\"\(key)\", { \(value) }\(set))"
  }
}

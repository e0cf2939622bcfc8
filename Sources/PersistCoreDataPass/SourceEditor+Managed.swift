import Foundation

extension SourceEditor {
  mutating func managed(at index: Int) -> Int {
    replace(code[index].range.lowerBound..<withSpaces(code[index + 1].range.upperBound), with: "")
    var next = index + 2
    var modifiers = ""
    while let token = token(next), !token.isWord("var"), !token.isWord("func") {
      switch token.text {
      case "@": next = attribute(at: next)
      case "(":
        let end = end(ofParentheses: next)
        modifiers += code[next..<min(end, code.count)].map(\.text).joined()
        next = end
      case "dynamic":
        word(at: next)
        next += 1
      case "weak", "unowned":
        // A computed property holds nothing.
        let end = self.token(next + 1)?.isPunctuation("(") == true ? end(ofParentheses: next + 1) : next + 1
        replace(token.range.lowerBound..<withSpaces(code[end - 1].range.upperBound), with: "")
        next = end
      default:
        guard Self.modifiers.contains(token.text) else { return next }
        modifiers += " \(token.text)"
        next += 1
      }
    }
    return token(next)?.text == "var" ? managedVariables(at: next + 1, modifiers) : managedMethod(at: next)
  }

  private mutating func managedVariables(at index: Int, _ modifiers: String) -> Int {
    var index = index
    var keys: [String] = []
    var position: Int?
    defer {
      // The prepared keys follow the last variable of the declaration.
      if let position {
        let declared = keys.map { "; private enum \(Self.keyType($0)) { static let key = ManagedKey(\"\($0)\") }" }
        replace(position..<position, with: declared.joined())
      }
    }
    while let name = token(index), name.kind == .identifier, token(index + 1)?.isPunctuation(":") == true {
      let end = endOfType(from: index + 2)
      guard end > index + 2 else { return index + 2 }
      let place = code[end - 1].range.upperBound
      position = place
      let key = name.text.trimmingCharacters(in: ["`"])
      keys.append(key)
      let prepared = "\(Self.keyType(key)).key"
      replace(
        place..<place, with: " { get { managedValue(\(prepared)) } set { setManagedValue(newValue, \(prepared)) } }")
      guard let comma = token(end), comma.isPunctuation(",") else { return end }
      // Computed properties need declarations of their own.
      replace(comma.range, with: ";\(modifiers) var")
      index = end + 1
    }
    return index
  }

  private static func keyType(_ name: String) -> String { "ManagedKey_\(name)" }

  /// The index after a type, which ends where a line ends without an open bracket.
  private func endOfType(from index: Int) -> Int {
    var depth = 0
    var index = index
    var last: SwiftToken?
    while let token = token(index) {
      if depth == 0, let last, hasLineEnd(between: last, token), !joins(last, token) { return index }
      switch token.text {
      case "<", "[", "(": depth += 1
      case ">" where last?.isPunctuation("-") != true: depth -= 1
      case "]", ")":
        if depth == 0 { return index }
        depth -= 1
      case ",", ";", "{", "}", "=":
        if depth == 0 { return index }
      default: break
      }
      last = token
      index += 1
    }
    return index
  }

  private func joins(_ left: SwiftToken, _ right: SwiftToken) -> Bool {
    [".", "&", ":"].contains(left.text) || [".", "&"].contains(right.text)
  }

  private func hasLineEnd(between left: SwiftToken, _ right: SwiftToken) -> Bool {
    bytes[left.range.upperBound..<right.range.lowerBound].contains(UInt8(ascii: "\n"))
  }

  private mutating func managedMethod(at index: Int) -> Int {
    guard let name = token(index + 1), token(index + 2)?.isPunctuation("(") == true else { return index + 1 }
    let end = end(ofParentheses: index + 2)
    let parameters = parameters(from: index + 3, to: end - 1)
    guard let body = ManagedMethod(name.text, parameters)?.body else {
      report(.managedMethod, at: name)
      return end
    }
    let position = code[end - 1].range.upperBound
    replace(position..<position, with: " { \(body) }")
    return end
  }

  /// The parameters of a method, each with its label, name and type.
  private func parameters(from start: Int, to end: Int) -> [ManagedMethod.Parameter] {
    var parameters: [ManagedMethod.Parameter] = []
    var words: [String] = []
    var type = ""
    var isType = false
    var depth = 0
    func parameter() -> ManagedMethod.Parameter {
      ManagedMethod.Parameter(label: words.first ?? "_", name: words.last ?? "", type: type)
    }
    for token in code[start..<max(start, end)] {
      switch token.text {
      case ",":
        guard depth == 0 else { continue }
        parameters.append(parameter())
        (words, type, isType) = ([], "", false)
      case ":" where !isType: isType = true
      default:
        if ["<", "[", "("].contains(token.text) { depth += 1 }
        if [">", "]", ")"].contains(token.text) { depth -= 1 }
        if isType { type += token.text } else if token.kind == .identifier { words.append(token.text) }
      }
    }
    if !words.isEmpty { parameters.append(parameter()) }
    return parameters
  }
}

/// A method that Objective-C's runtime would find by its selector.
struct ObjectiveCMethod {
  let name: String
  /// The labels of the parameters; `_` for one without.
  private let labels: [String]
  private let isThrowing: Bool
  private let hasPointer: Bool

  /// Reads a declaration.
  ///
  /// - Parameters:
  ///   - code: The tokens of the source.
  ///   - index: The index of `func`.
  ///   - end: Returns the index behind the parenthesis that closes the one at an index.
  init?(_ code: [SwiftToken], at index: Int, end: (Int) -> Int) {
    guard code.indices.contains(index + 2), code[index + 1].kind == .identifier,
      code[index + 2].isPunctuation("(")
    else { return nil }
    name = code[index + 1].text
    let close = end(index + 2)
    var labels: [String] = []
    var depth = 0
    var isLabel = true
    var hasPointer = false
    var last = ""
    for token in code[(index + 3)..<max(index + 3, close - 1)] {
      defer { last = token.text }
      if token.text == "AutoreleasingUnsafeMutablePointer" { hasPointer = true }
      switch token.text {
      case "(", "[", "<", "{": depth += 1
      case ">" where last == "-": continue
      case ")", "]", ">", "}": depth -= 1
      case "," where depth == 0: isLabel = true
      default:
        guard isLabel, depth == 0, token.kind == .identifier else { continue }
        labels.append(token.text)
        isLabel = false
      }
    }
    self.labels = labels
    self.hasPointer = hasPointer
    isThrowing = code.indices.contains(close) && code[close].isWord("throws")
  }

  /// Whether the method validates a property, as `validateName(_:)` does.
  var isValidation: Bool {
    hasPointer && labels == ["_"] && name.hasPrefix("validate") && name.dropFirst(8).first?.isUppercase == true
  }

  /// The property that a validation method checks.
  var validatedKey: String {
    let rest = name.dropFirst(8)
    // An acronym keeps its case, as in a property named URL.
    if rest.dropFirst().first?.isUppercase == true { return String(rest) }
    return rest.prefix(1).lowercased() + rest.dropFirst()
  }

  /// The selector that Swift gives the method.
  var selector: String {
    guard let first = labels.first else { return isThrowing ? "\(name)AndReturnError:" : name }
    var piece = name
    if first != "_" {
      if !Self.isPreposition(Self.firstWord(first)), !Self.isPreposition(Self.lastWord(name)) { piece += "With" }
      piece += first.prefix(1).uppercased() + first.dropFirst()
    }
    return ([piece] + labels.dropFirst().map { $0 == "_" ? "" : $0 } + (isThrowing ? ["error"] : []))
      .map { $0 + ":" }.joined()
  }

  /// The call with the arguments of the selector.
  var call: String {
    let arguments = labels.enumerated().map { index, label in
      (label == "_" ? "" : "\(label): ") + "arguments.value(\(index))"
    }
    let call = "self.\(name)(\(arguments.joined(separator: ", ")))"
    return labels.isEmpty && !isThrowing ? call : "try \(call)"
  }

  private static func firstWord(_ name: String) -> String {
    let start = name.prefix(1)
    return (start + name.dropFirst().prefix { !$0.isUppercase }).lowercased()
  }

  private static func lastWord(_ name: String) -> String {
    guard let start = name.lastIndex(where: \.isUppercase) else { return name.lowercased() }
    return name[start...].lowercased()
  }

  private static func isPreposition(_ word: String) -> Bool { prepositions.contains(word) }

  private static let prepositions: Set<String> = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from", "given",
    "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since", "to", "until",
    "using", "via", "when", "with", "within",
  ]
}

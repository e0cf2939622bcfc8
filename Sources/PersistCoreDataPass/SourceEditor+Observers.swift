extension SourceEditor {
  /// Reports observers by key, which aren't covered.
  mutating func keyValueObserver(at index: Int) {
    guard index > 0, code[index - 1].isPunctuation("."), token(index + 1)?.isPunctuation("(") == true else { return }
    let arguments = code[(index + 2)..<max(index + 2, end(ofParentheses: index + 1) - 1)]
    let isByKey = arguments.contains { $0.isWord("forKeyPath") }
    let isProgress = arguments.contains { $0.isWord("migrationProgress") }
    if isByKey || (code[index].text == "observe" && arguments.first?.isPunctuation("\\") == true && !isProgress) {
      report(.keyValueObserving, at: code[index])
    }
  }

  /// An observer of notifications whose method Objective-C finds by its selector: the method itself takes its place.
  mutating func notificationObserver(at index: Int) {
    guard importsCoreData, index > 0, code[index - 1].isPunctuation("."), token(index + 1)?.isPunctuation("(") == true,
      let label = argument("selector", ofCallAt: index + 1), token(label + 2)?.isPunctuation("#") == true,
      token(label + 3)?.isWord("selector") == true, token(label + 4)?.isPunctuation("(") == true
    else { return }
    let end = end(ofParentheses: label + 4)
    guard let method = Self.method(code[(label + 5)..<max(label + 5, end - 1)]) else { return }
    replacedSelectors.insert(label + 2)
    replace(
      code[label].range.lowerBound..<code[end - 1].range.upperBound, with: "calling: { $0.\(method) }")
  }

  /// The index of an argument's label in a call.
  private func argument(_ label: String, ofCallAt parenthesis: Int) -> Int? {
    var depth = 0
    var index = parenthesis
    while let token = token(index) {
      switch token.text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        depth -= 1
        if depth == 0 { return nil }
      default:
        if depth == 1, token.isWord(label), self.token(index + 1)?.isPunctuation(":") == true { return index }
      }
      index += 1
    }
    return nil
  }

  /// The reference to the method that a selector names, without its type.
  private static func method(_ tokens: ArraySlice<SwiftToken>) -> String? {
    let reference = tokens.prefix { !$0.isWord("as") }
    let names = reference.prefix { !$0.isPunctuation("(") }.filter { $0.kind == .identifier }
    guard let name = names.last?.text, !["getter", "setter"].contains(names.first?.text) else { return nil }
    let labels = reference.drop { !$0.isPunctuation("(") }
    return labels.count > 2 ? name + labels.map(\.text).joined() : name
  }
}

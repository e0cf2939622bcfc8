extension SourceEditor {
  /// The class whose body a brace opens, or that an extension extends.
  func openedType(at index: Int) -> DeclaredType? {
    var index = index - 1
    while let token = token(index), !["{", "}", ";"].contains(token.text) {
      let next = self.token(index + 1)
      if token.isWord("class"), let next, next.kind == .identifier, !["func", "var", "subscript"].contains(next.text),
        self.token(index - 1)?.text != ":"
      {
        return DeclaredType(
          name: next.text, superclass: superclass(after: index + 2), isClass: true,
          hasObjectiveCMembers: memberClasses.contains(index), inheritanceEnd: inheritanceEnd(after: index + 2))
      }
      if token.isWord("extension"), let next, next.kind == .identifier {
        return DeclaredType(
          name: next.text, superclass: nil, isClass: false, hasObjectiveCMembers: false, inheritanceEnd: nil)
      }
      if ["func", "var", "let", "init", "struct", "enum", "protocol"].contains(token.text) { return nil }
      index -= 1
    }
    return nil
  }

  /// The end of an inheritance clause; nil without one, or if it names Sendable.
  private func inheritanceEnd(after index: Int) -> Int? {
    guard token(index)?.isPunctuation(":") == true else { return nil }
    let clause = code[index...].prefix { !$0.isPunctuation("{") && !$0.isWord("where") }
    return clause.contains { $0.isWord("Sendable") } ? nil : clause.last?.range.upperBound
  }

  /// The first type that a declaration inherits from, without its module.
  private func superclass(after index: Int) -> String? {
    guard token(index)?.isPunctuation(":") == true, var name = token(index + 1), name.kind == .identifier else {
      return nil
    }
    var index = index + 1
    while token(index + 1)?.isPunctuation(".") == true, let next = token(index + 2) {
      name = next
      index += 2
    }
    return name.text
  }
}

extension String {
  /// A normal form shared by all predicates and expressions that differ only in white space and the kind of quotes. It
  /// serves to compare a model's source, which has the author's text, with its archive, which has the printed form.
  package var formatNormalForm: String {
    var result = ""
    var hasSpace = false
    var rest = self[...]
    while let character = rest.popFirst() {
      if character.isWhitespace {
        hasSpace = true
        continue
      }
      if hasSpace, character.isFormatWord, result.last?.isFormatWord == true { result.append(" ") }
      hasSpace = false
      guard character == "'" || character == "\"" else {
        result.append(character)
        continue
      }
      var content = ""
      while let next = rest.popFirst(), next != character {
        content.append(next)
        if next == "\\", let escaped = rest.popFirst() { content.append(escaped) }
      }
      let quote = content.contains { $0 == "\"" || $0 == "\\" } ? String(character) : "\""
      result += quote + content + quote
    }
    return result
  }
}

extension Character {
  fileprivate var isFormatWord: Bool { isLetter || isNumber || self == "_" }
}

extension AttributeValidation {
  /// The rules in normal form.
  package var normalForm: AttributeValidation {
    var result = self
    for index in rules.indices { result.rules[index].predicate = rules[index].predicate.formatNormalForm }
    return result
  }
}

extension FetchIndexDescription {
  /// The index in normal form, without its unknown entries.
  package var normalForm: FetchIndexDescription {
    FetchIndexDescription(
      name,
      elements: elements.map { element in
        guard case .expression(let text, let type) = element.subject else { return element }
        var element = element
        element.subject = .expression(text.formatNormalForm, type)
        return element
      }, partialPredicate: partialPredicate?.formatNormalForm)
  }
}

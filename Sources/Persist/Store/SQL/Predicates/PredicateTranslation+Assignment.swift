import Foundation

/// Translation of the values that an update assigns to columns.
extension PredicateTranslation {
  /// A term whose values have a column's form; nil if SQL has none.
  package mutating func assigned(
    _ expression: FetchExpression, to form: SlotForm, over entity: Entity, root: SQLRow
  ) -> SQLTerm? {
    let scope = Scope(root: Row(row: root, entity: entity))
    switch operand(expression, in: scope) {
    case .constant(.date(let date))? where form == .date:
      return .value(.double(date.timeIntervalSinceReferenceDate))
    case .term(let term, let kind)? where ParserStackUse.holds(term):
      switch (kind, form) {
      case (.whole, .integer), (.whole, .boolean), (.text, .string), (.uri, .uri), (.text, .uri), (.uuid, .uuid),
        (.decimal, .decimal), (.mixed, .decimal), (.whole, .decimal), (.date, .date), (.data, .data):
        return term
      case (.number, .integer), (.date, .integer): return .whole(term)
      case (.whole, .double), (.number, .double), (.date, .double), (.number, .date): return .real(term)
      default: return nil
      }
    default: return nil
    }
  }
}

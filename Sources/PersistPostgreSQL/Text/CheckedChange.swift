import Persist

/// A change of rows of one version, which fails as ``ServerFailure/isOvertaken`` if not all of them have it.
struct CheckedChange {
  /// Everything that determines the text of the change.
  enum Shape: Hashable, Sendable {
    case update(entity: Int, slots: [Int])
    case deletion(table: String)
  }

  let shape: Shape
  let parameters: [ServerParameter]
  private let count: Int64
  private let change: () -> ServerText

  /// - Parameters:
  ///   - count: The number of rows that it has to change.
  ///   - parameters: The parameters of the text.
  ///   - change: The text of an update or a deletion, without a list of what it returns.
  init(_ shape: Shape, of count: Int64, parameters: [ServerParameter], _ change: @escaping () -> ServerText) {
    (self.shape, self.count, self.parameters, self.change) = (shape, count, parameters, change)
  }

  /// The parameter of ``condition``.
  var countParameter: ServerParameter { .integer(count) }

  /// The changed rows, as the beginning of a statement.
  var definition: ServerText { "WITH changed AS (\(change()) RETURNING 1) " }

  /// Divides by zero if other rows were changed.
  private var check: ServerText { "1 / (count(*) = \(integer: count))::int" }

  /// The change as a statement of its own.
  func statement(_ texts: ServerTexts) -> ServerText {
    texts.statement(.change(shape), binding: parameters + [countParameter]) {
      "\(definition)SELECT \(check) FROM changed"
    }
  }

  /// A condition in front of others, after ``definition``.
  var condition: ServerText { "(SELECT \(check) FROM changed) = 1 AND " }
}

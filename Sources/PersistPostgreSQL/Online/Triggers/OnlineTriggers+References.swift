import Persist

/// The statements of a table's trigger that keep the two keys of a relationship in step.
extension OnlineTriggers {
  static func copyInserted(_ reference: OnlineExpansion.Reference) -> ServerText {
    """
    IF is_second OR NEW.\(name: reference.second.key) IS NOT NULL THEN \(reference.copy(to: .first)) \
    ELSE \(reference.copy(to: .second)) END IF;
    """
  }

  static func copyUpdated(_ reference: OnlineExpansion.Reference) -> ServerText {
    // A key may be assigned before its entity number, which says whether the other model knows the object.
    func isChanged(_ place: OnlineExpansion.Reference.Place) -> ServerText {
      place.columns.map { "NEW.\(name: $0) IS DISTINCT FROM OLD.\(name: $0)" as ServerText }.joined(separator: " OR ")
    }
    let first: ServerText = "\(name: reference.first.key)"
    return """
      IF (\(isChanged(reference.second))) \
      AND (is_second OR NEW.\(first) IS NOT DISTINCT FROM OLD.\(first)) THEN \(reference.copy(to: .first)) \
      ELSIF \(isChanged(reference.first)) THEN \(reference.copy(to: .second)) END IF;
      """
  }
}

extension OnlineExpansion.Reference {
  /// The columns of one model with their values from those of the other.
  ///
  /// - Parameter row: The name of the row with a point.
  func values(for side: OnlineExpansion.Side, of row: ServerText) -> [(column: String, value: ServerText)] {
    let (target, source) = side == .first ? (first, second) : (second, first)
    let hidden = side == .first ? unknownToFirst : unknownToSecond
    let key: ServerText = "\(row)\(name: source.key)"
    let isHidden: ServerText =
      if let number = source.number, !hidden.isEmpty {
        "\(row)\(name: number) IN (\(numbers: hidden))"
      } else {
        "\(key) IS NULL"
      }
    let number: ServerText = source.number.map { "\(row)\(name: $0)" } ?? "\(numbers: [self.number])"
    var values = [(target.key, "CASE WHEN \(isHidden) THEN NULL ELSE \(key) END" as ServerText)]
    if let column = target.number {
      values.append((column, "CASE WHEN \(key) IS NULL OR \(isHidden) THEN NULL ELSE \(number) END"))
    }
    return values
  }

  fileprivate func copy(to side: OnlineExpansion.Side) -> ServerText {
    values(for: side, of: "NEW.").map { "NEW.\(name: $0.column) := \($0.value);" as ServerText }.joined(separator: " ")
  }
}

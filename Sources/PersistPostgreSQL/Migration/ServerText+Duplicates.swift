import Persist

extension ServerText {
  /// Counts the duplicate rows beyond the first of each group: see ``RowCount/duplicates(_:values:_:)``.
  ///
  /// - Parameter kinds: The columns of the table.
  static func duplicates(
    of values: [RowExpression], in table: String, _ rows: RowCondition, _ kinds: ColumnKinds
  ) -> ServerText {
    let texts = values.map { expression($0, as: $0.kind(kinds), kinds) }
    // Constants don't affect grouping, and the server refuses them.
    let parting = zip(values, texts).filter { !$0.0.isConstant }.map(\.1)
    let list: ServerText = parting.isEmpty ? "id - id" : parting.joined(separator: ", ")
    let entities = rows.entityNumbers.map { ["entity IN (\(numbers: $0))" as ServerText] } ?? []
    let tests = rows.tests.map { ServerText(.condition($0)) }
    let present = entities + texts.map { "\($0) IS NOT NULL" as ServerText } + tests
    return """
      SELECT coalesce(sum(extra), 0) FROM (SELECT count(*) - 1 AS extra FROM \(table: table) AS r0 \
      WHERE \(present.joined(separator: " AND ")) GROUP BY \(list) HAVING count(*) > 1) AS found
      """
  }
}

// MARK: Parked values

extension ServerText {
  static func parkedOutside(_ range: ClosedRange<Int64>, slot: ParkedSlot) -> ServerText {
    """
    SELECT count(CASE WHEN v.value::text::numeric NOT BETWEEN \(number: range.lowerBound) \
    AND \(number: range.upperBound) THEN 1 END) FROM \(ServerText(.parkedValues(slot))) AS v
    """
  }

  /// Counts parked objects with the same values as a row. Values are compared as text, as they are parked.
  static func parkedDuplicates(
    slot: Int, _ slots: [Int], of table: String, values: [RowExpression], rows: RowCondition,
    _ kinds: ColumnKinds
  ) -> ServerText {
    let same = zip(slots, values).map { slot, value -> ServerText in
      let kind = value.kind(kinds)
      return """
        \(kind.text(expression(value, as: kind, kinds))) = (SELECT p.value FROM \(table: ParkedSlot.Table.values) AS p \
        WHERE p.slot = \(number: Int64(slot)) AND p.object = o.object)
        """
    }
    let start = condition(rows)
    return """
      SELECT count(*) FROM \(table: ParkedSlot.Table.values) AS o WHERE o.slot = \(number: Int64(slot)) \
      AND EXISTS (SELECT 1 FROM \(table: table) AS r0\(start)\
      \(rows == .all ? " WHERE " : " AND ")\(same.joined(separator: " AND ")))
      """
  }
}

extension ServerTerms.Kind {
  /// The text by which a value of this kind is parked.
  fileprivate func text(_ value: ServerText) -> ServerText {
    switch self {
    case .boolean: "(\(value))::int::text"
    case .bytes: "encode(\(value), 'hex')"
    default: "(\(value))::text"
    }
  }
}

extension RowExpression {
  fileprivate var isConstant: Bool {
    switch self {
    case .constant, .filled(.constant, _): true
    default: false
    }
  }

  /// A type for all values of the expression.
  fileprivate func kind(_ kinds: ServerText.ColumnKinds) -> ServerTerms.Kind {
    let all = Set(parts(kinds))
    if let only = all.first, all.count == 1 { return only }
    return all.allSatisfy { $0.isWhole || $0 == .boolean } && !all.isEmpty ? .integer
      : all.isSubset(of: [.integer, .int32, .int16, .boolean, .double, .decimal]) && !all.isEmpty ? .decimal : .text
  }

  /// The types of the columns that the values come from.
  private func parts(_ kinds: ServerText.ColumnKinds) -> [ServerTerms.Kind] {
    switch self {
    case .column(let name): [kinds[name.foldedIdentifier]].compactMap { $0 }
    case .constant: []
    case .filled(let inner, _), .ifPresent(_, let inner, _): inner.parts(kinds)
    case .byEntity(let cases, let otherwise): (cases.map(\.value) + [otherwise]).flatMap { $0.parts(kinds) }
    case .renumbered, .shifted, .found: [.integer]
    case .marked, .unmarked: [.bytes]
    }
  }
}

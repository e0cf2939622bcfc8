package import Persist

extension OnlineExpansion {
  /// A composite attribute of both models whose elements don't have the same columns.
  ///
  /// Elements of both models have equal values. An element of one model alone keeps its value as long as the other
  /// model's elements have one: it is missing, or has its default, as soon as a program with the other model stores no
  /// composite value at all, and gets its default with a new one.
  package struct Composite: Sendable, Equatable {
    package struct Column: Sendable, Equatable {
      package let name: String
      package let type: TableMap.ColumnType

      package init(name: String, type: TableMap.ColumnType) { (self.name, self.type) = (name, type) }
    }

    /// A column that the other model doesn't have.
    package struct Part: Sendable, Equatable {
      package let column: Column
      /// The value, computed from the columns of the other model.
      package let value: RowExpression
      /// The other model's column for the same element; nil for an element of its own.
      package let counterpart: Column?

      package init(column: Column, value: RowExpression, counterpart: Column?) {
        (self.column, self.value, self.counterpart) = (column, value, counterpart)
      }
    }

    /// The columns of one of the models.
    package struct Half: Sendable, Equatable {
      /// All columns, those of both models included.
      package let columns: [Column]
      package let parts: [Part]

      package init(columns: [Column], parts: [Part]) { (self.columns, self.parts) = (columns, parts) }
    }

    package let table: String
    /// The entity numbers of the rows.
    package var numbers: [Int]
    package let first: Half
    package let second: Half
    /// Whether both models require a value, so that one without elements counts as one.
    package let isAlwaysPresent: Bool
    /// The second model's attribute, for messages.
    package let label: String

    package init(
      table: String, numbers: [Int], first: Half, second: Half, isAlwaysPresent: Bool, label: String
    ) {
      (self.table, self.numbers, self.first, self.second) = (table, numbers, first, second)
      (self.isAlwaysPresent, self.label) = (isAlwaysPresent, label)
    }

    /// Whether copies of the single columns are enough.
    package var consistsOfCopies: Bool {
      (first.parts + second.parts).allSatisfy { $0.counterpart != nil && $0.value.isColumn }
    }

    func half(_ side: Side) -> Half { side == .first ? first : second }
  }
}

extension OnlineExpansion.Composite {
  /// The columns of the second model with their values for a row that programs with the first have written.
  ///
  /// - Parameter row: The name of the row with a point.
  func backfilled(in row: ServerText) -> [(column: String, value: ServerText)] {
    second.parts.map { part in
      let value = newValue(of: part, .second, row)
      return (
        part.column.name,
        "CASE WHEN \(row)entity IN (\(numbers: numbers)) THEN \(value) ELSE \(row)\(name: part.column.name) END"
      )
    }
  }

  /// The value of a part according to the other model.
  private func value(of part: Part, _ side: OnlineExpansion.Side, _ row: ServerText) -> ServerText {
    let other = half(side == .first ? .second : .first)
    let kinds = other.columns.map { ($0.name.foldedIdentifier, ServerTerms.Kind($0.type)) }
    return ServerText.expression(
      part.value, as: ServerTerms.Kind(part.column.type), Dictionary(kinds, uniquingKeysWith: { first, _ in first }),
      of: row)
  }

  /// The value of a part in a row that is new for the other model.
  private func newValue(of part: Part, _ side: OnlineExpansion.Side, _ row: ServerText) -> ServerText {
    let value = value(of: part, side, row)
    guard part.counterpart == nil else { return value }
    let kept: ServerText = "coalesce(\(row)\(name: part.column.name), \(value))"
    return dependsOnPresence(part)
      ? "CASE WHEN \(isPresent(part, on: side, in: row)) THEN \(kept) ELSE \(value) END" : kept
  }

  private func dependsOnPresence(_ part: Part) -> Bool { part.value.presence != nil || !isAlwaysPresent }

  /// The condition that a row has the composite value with a part, according to the other model.
  private func isPresent(_ part: Part, on side: OnlineExpansion.Side, in row: ServerText) -> ServerText {
    let other = half(side == .first ? .second : .first).columns.map(\.name)
    let tests = (part.value.presence ?? other).map { "\(row)\(name: $0) IS NOT NULL" as ServerText }
    return tests.isEmpty ? "FALSE" : "(\(tests.joined(separator: " OR ")))"
  }

  // MARK: Statements of a table's trigger

  /// - Parameter hidden: The entity numbers that the first model doesn't have.
  func followInserted(hidden: [Int]) -> ServerText {
    let own = second.parts.map { "NEW.\(name: $0.column.name) IS NOT NULL" as ServerText }
    let isSecond = (["is_second"] + own).joined(separator: " OR ")
    return """
      IF NEW.entity IN (\(numbers: numbers)) THEN IF \(isSecond) THEN \(assign(.first, isNew: true, hidden)) \
      ELSE \(assign(.second, isNew: true, hidden)) END IF; END IF;
      """
  }

  /// - Parameter hidden: The entity numbers that the first model doesn't have.
  func followUpdated(hidden: [Int]) -> ServerText {
    func isChanged(_ columns: [Column]) -> ServerText {
      let tests = columns.map { "NEW.\(name: $0.name) IS DISTINCT FROM OLD.\(name: $0.name)" as ServerText }
      return tests.isEmpty ? "FALSE" : "(\(tests.joined(separator: " OR ")))"
    }
    let copied = second.parts.filter { $0.counterpart != nil }
    // A backfill assigns the values that the first model's columns imply; these don't count as changes.
    let isOwn = copied.map { part -> ServerText in
      "NEW.\(name: part.column.name) IS DISTINCT FROM (\(value(of: part, .second, "NEW.")))"
    }
    let isAssigned: ServerText = isOwn.isEmpty ? "" : " AND (\(isOwn.joined(separator: " OR ")))"
    return """
      IF NEW.entity IN (\(numbers: numbers)) THEN \
      IF is_second THEN IF \(isChanged(second.columns)) THEN \(assign(.first, isNew: false, hidden)) END IF; \
      ELSIF \(isChanged(first.columns)) THEN \(assign(.second, isNew: false, hidden)) \
      ELSIF \(isChanged(copied.map(\.column)))\(isAssigned) THEN \(assign(.first, isNew: false, hidden)) END IF; \
      END IF;
      """
  }

  /// Gives the columns of one model their values according to the other.
  private func assign(_ side: OnlineExpansion.Side, isNew: Bool, _ hidden: [Int]) -> ServerText {
    let statements = half(side).parts.compactMap { part -> ServerText? in
      let (name, value): (ServerText, ServerText) = ("\(name: part.column.name)", value(of: part, side, "NEW."))
      guard let counterpart = part.counterpart else {
        if isNew { return "NEW.\(name) := \(newValue(of: part, side, "NEW."));" }
        guard dependsOnPresence(part) else { return nil }
        return """
          NEW.\(name) := CASE WHEN NOT \(isPresent(part, on: side, in: "NEW.")) THEN \(value) \
          WHEN \(isPresent(part, on: side, in: "OLD.")) THEN NEW.\(name) ELSE coalesce(NEW.\(name), \(value)) END;
          """
      }
      guard side == .first else { return "NEW.\(name) := \(value);" }
      return OnlineTriggers.copyBack(
        value, to: part.column, from: counterpart, label: label, hidden: hidden)
    }
    return statements.isEmpty ? "NULL;" : statements.joined(separator: " ")
  }
}

extension RowExpression {
  /// The columns one of which has to have a value for the expression to have another one than a default; nil for
  /// others.
  fileprivate var presence: [String]? { if case .ifPresent(let columns, _, _) = self { columns } else { nil } }
}

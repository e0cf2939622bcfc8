import Foundation
import Persist

/// The steps of one batch update whose values the server can't compute, inside a transaction.
///
/// All values are computed from the rows as they were, before the first row is changed. Memory use grows only by the
/// rows' keys.
struct ServerBatchUpdatePass {
  private let batch: BatchUpdate
  private let store: PostgreSQLStore
  private let transaction: ServerTransaction
  private let plan: WritePlan
  private let columns: [WritePlan.Column]
  private let pass: ServerCommitPass
  private let evaluator: ExpressionEvaluator
  /// The error for the first row that would lose its value of a required attribute: those for numbers out of range come
  /// first, as if the server had computed the values.
  private var missing: PersistenceError?
  /// The number of rows that are computed together.
  private static let groupSize = 2000

  init(_ batch: BatchUpdate, store: PostgreSQLStore, transaction: ServerTransaction) {
    self.batch = batch
    self.store = store
    self.transaction = transaction
    plan = store.plans.writes[batch.rows.entity.index]
    columns = plan.update(of: batch.changes.map(\.slot)).columns
    pass = ServerCommitPass(RowWrites(), store: store)
    evaluator = ExpressionEvaluator(now: batch.rows.now)
  }

  /// - Parameter keys: The keys of the rows, which the transaction has locked.
  mutating func run(_ keys: [Int64]) throws {
    guard !keys.isEmpty else { return }
    let empty = pass.columns(columns, of: plan, count: 0)
    let definitions = empty.enumerated().map { index, column -> ServerText in
      ", c\(number: Int64(index)) \(column.kind.typeName)"
    }.joined(separator: "")
    try transaction.run([
      "CREATE TEMPORARY TABLE persist_updated (k bigint PRIMARY KEY\(definitions)) ON COMMIT DROP"
    ])
    let view = PostgreSQLStore(reading: store.pool.reading(from: OwnTransaction(transaction)), of: store)
    var start = 0
    while start < keys.count {
      let group = Array(keys[start..<min(start + Self.groupSize, keys.count)])
      let rows = try view.rows(
        RowQuery(entity: batch.rows.entity, includesSubentities: batch.rows.includesSubentities, keys: group))
      try compute(RowCompany(rows, of: store.model, from: view))
      start += group.count
    }
    if let missing { throw missing }
    let assignments = empty.enumerated().map { index, column -> ServerText in
      ", \(name: column.column.name) = u.c\(number: Int64(index))"
    }.joined(separator: "")
    try transaction.run([
      """
      UPDATE \(table: plan.table) AS t SET \(.countingUp(of: "t"))\(assignments) \
      FROM pg_temp.persist_updated AS u WHERE t.id = u.k
      """
    ])
  }

  private mutating func compute(_ company: RowCompany) throws {
    let required = batch.computedRequiredSlots
    var values = pass.columns(columns, of: plan, count: company.objects.count)
    for object in company.objects {
      var row = SlotValues()
      for (slot, expression) in batch.changes { row[slot] = try value(of: expression, at: slot, for: object) }
      for slot in required where missing == nil && row[slot]?.isNull != false {
        let name = plan.entity.properties[slot].name
        // A row that had no value may remain so.
        guard try object.fetchValue(forKey: name).stored?.isNull == false else { continue }
        missing = .missingRequired(name, of: plan.entity, row: object.key, store: store.url)
      }
      try pass.append(row, to: &values, plan, row: object.key)
    }
    try transaction.run([
      """
      INSERT INTO pg_temp.persist_updated SELECT k\(ServerCommitPass.values(values)) \
      FROM unnest(\(integers: company.objects.map(\.key))\(ServerCommitPass.parameters(values))) \
      AS u(k\(ServerCommitPass.aliases(values)))
      """
    ])
  }

  /// A value in the attribute's own type. Numbers are converted as SQLite's columns do.
  ///
  /// - Throws: The evaluator's errors, and the error for a number that isn't in the range of any integer type.
  private func value(of expression: FetchExpression, at slot: Int, for object: RowObject) throws -> StoredValue {
    if let constant = expression.constantValue { return constant.current }
    guard let attribute = plan.entity.properties[slot].attribute,
      let value = try evaluator.value(of: expression, for: .object(object)).stored
    else { return .null }
    let form = SlotForm(attribute)
    guard let number = Number(value)?.unlessNaN else { return Self.text(value, as: form) }
    switch form {
    case .integer:
      guard let whole = number.rounded(.towardZero).whole else {
        let name = plan.entity.properties[slot].name
        let place = PersistenceError.Place(
          entity: plan.entity.name, property: name, row: object.key, store: store.url)
        throw attribute.type.outOfRange(number.double, name, at: place)
      }
      return .integer(whole)
    case .boolean: return .boolean(number.double != 0)
    case .double: return .double(number.double)
    case .date: return .date(Date(timeIntervalSinceReferenceDate: number.double))
    case .decimal: return number.decimal.map(StoredValue.decimal) ?? .null
    default: return .null
    }
  }

  private static func text(_ value: StoredValue, as form: SlotForm) -> StoredValue {
    switch (value, form) {
    case (.uri(let text), .string): .string(text)
    case (.string(let text), .uri): .uri(text)
    case (.string, .string), (.uri, .uri), (.uuid, .uuid), (.data, .data): value
    default: .null
    }
  }
}

import Foundation

/// A fetch of values instead of objects. It always reads saved values, never pending changes.
///
/// The store computes the values if its results equal those of evaluation in memory; otherwise they are computed from
/// the saved objects in a separate context.
struct DictionaryPass: ~Copyable {
  private let request: FetchRequest<ManagedObject>
  private let context: ManagedObjectContext
  private let pass: FetchPass
  private let columns: DictionaryColumns

  init<Result>(_ request: FetchRequest<Result>, in context: ManagedObjectContext) throws {
    try self.init(named: context.named(request.returning(ManagedObject.self)), in: context)
  }

  /// - Parameter named: A request whose key paths are replaced by names.
  private init(named: FetchRequest<ManagedObject>, in context: ManagedObjectContext) throws {
    var request = named
    request.includesPendingChanges = false
    let entity = try context.entity(named: request.entityName)
    let columns = try DictionaryColumns(request, of: entity, in: context.model)
    if columns.order != nil { request.sortDescriptors = [] }
    let pass = try FetchPass(request, in: context)
    (self.request, self.context, self.pass, self.columns) = (request, context, pass, columns)
  }

  func rows() throws -> [FetchedRow] {
    var lines = try storedLines() ?? computedLines()
    lines = try lines.filter { try holds($0) }
    lines = sorted(lines)
    let rows = distinct(named(lines))
    return isWindowedBefore ? rows : pass.cut(rows)
  }

  /// Whether limit and offset count objects, so that the store or the fetch of objects applies them.
  private var isWindowedBefore: Bool {
    !columns.isGrouped && columns.order == nil && columns.having == nil && !request.returnsDistinctResults
  }

  /// Returns the lines computed by the only store; nil if it can't compute them or there are several stores.
  private func storedLines() throws -> [[StoredValue]]? {
    guard let source = computingSource else { return nil }
    guard let query = query(for: source) else { return columns.isGrouped ? nil : [] }
    return try source.store.values(query, monitor: context.readMonitor)
  }

  /// The only store, if it can compute the lines; nil if objects must be evaluated.
  private var computingSource: FetchPass.Source? {
    pass.sources.count == 1 ? pass.sources.first { $0.rest == nil && $0.isOrdered } : nil
  }

  /// Returns nil if none of the request's identifiers can be a row of the store.
  private func query(for source: FetchPass.Source) -> ValueQuery? {
    guard var rows = pass.query(for: source, keysOnly: false) else { return nil }
    if !isWindowedBefore { (rows.limit, rows.offset) = (nil, 0) }
    if columns.isGrouped { rows.sort = [] }
    return ValueQuery(rows: rows, columns: columns.columns, groups: columns.groups)
  }

  /// Explains how the lines would be computed: by a statement, or from objects.
  func explanation() throws -> FetchExplanation {
    var explanation = try pass.explanation()
    if let source = computingSource, let query = query(for: source), let statement = try source.store.explain(query) {
      explanation.statements = [statement]
    }
    return explanation
  }

  private func computedLines() throws -> [[StoredValue]] {
    let saved = context.savedView()
    var request = request
    if !isWindowedBefore { (request.fetchLimit, request.fetchOffset) = (0, 0) }
    let objects = try saved.fetch(request)
    try pass.layout.prefetch(readBy: nil, columns.expressions, for: objects)
    let evaluator = ExpressionEvaluator()
    let lines =
      columns.isGrouped
      ? try groups(of: objects, evaluator).map { try line(of: $0, evaluator) }
      : try objects.map { try line(of: [$0], evaluator) }
    try saved.throwDeferredError()
    return lines
  }

  /// Groups the objects, in the order of the group values.
  private func groups(of objects: [ManagedObject], _ evaluator: ExpressionEvaluator) throws -> [[ManagedObject]] {
    guard !columns.groups.isEmpty else { return [objects] }
    var groups: [[ValueKey]: (values: [StoredValue], objects: [ManagedObject])] = Dictionary()
    for object in objects {
      let values = try columns.groups.map { try evaluator.value(of: $0, for: .object(object)).stored ?? .null }
      groups[values.map(ValueKey.init), default: (values, [])].objects.append(object)
    }
    return groups.values.sorted { left, right in
      for (left, right) in zip(left.values, right.values) {
        let order = ObjectOrder.compare(left, right)
        if order != 0 { return order < 0 }
      }
      return false
    }.map(\.objects)
  }

  /// Returns the values of a group, reading those common to the group from its first object.
  private func line(of group: [ManagedObject], _ evaluator: ExpressionEvaluator) throws -> [StoredValue] {
    try columns.columns.map { column in
      switch column {
      case .value(let expression):
        return try group.first.flatMap { try evaluator.value(of: expression, for: .object($0)).stored } ?? .null
      case .aggregate(let aggregate):
        let values = try group.map { object in
          try aggregate.argument.map { try evaluator.value(of: $0, for: .object(object)) } ?? .object(object)
        }
        return try aggregate.value(of: values).stored ?? .null
      }
    }
  }

  private func holds(_ line: [StoredValue]) throws -> Bool {
    guard let having = columns.having else { return true }
    return try ExpressionEvaluator().matches(having, .object(DictionaryLine(values: line)))
  }

  private func sorted(_ lines: [[StoredValue]]) -> [[StoredValue]] {
    guard let order = columns.order, !order.isEmpty else { return lines }
    return lines.enumerated().sorted { left, right in
      for (place, descriptor) in order {
        let order = ObjectOrder.compare(left.element[place], right.element[place], descriptor.comparison)
        if order != 0 { return (order < 0) == descriptor.isAscending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }

  /// Converts lines to rows, dropping the columns that only the order and the condition use.
  private func named(_ lines: [[StoredValue]]) -> [FetchedRow] {
    let names = FetchedRow.Columns(columns.names)
    let types = columns.resultTypes
    let isConverted = types.contains { $0 != nil }
    return lines.map { line in
      var values = line.count > types.count ? Array(line[..<types.count]) : line
      if isConverted { values = zip(values, types).map { value, type in type.map(value.converted) ?? value } }
      return FetchedRow(columns: names, values: values)
    }
  }

  private func distinct(_ rows: [FetchedRow]) -> [FetchedRow] {
    guard request.returnsDistinctResults else { return rows }
    var seen: Set<FetchedRow> = []
    return rows.filter { seen.insert($0).inserted }
  }
}

/// A line of values with column indexes as keys, for evaluating the condition on groups.
private struct DictionaryLine: KeyedObject {
  let values: [StoredValue]

  func fetchValue(forKey key: String) -> FetchValue {
    .value(Int(key).flatMap { values.indices.contains($0) ? values[$0] : nil } ?? .null)
  }

  var fetchIdentity: StoredValue { .null }
  var fetchEntityName: String? { nil }
}

import Persist
import ServiceContextModule
import Tracing

/// One operation of a store: a span, and an entry in the metrics.
final class StoreOperation: Sendable {
  /// The kinds of operations, as named in spans and metrics.
  enum Kind: String {
    case fetch, fault, count, aggregate, related, save, insert, update, delete, history, select, migrate, copy
    case deferred = "finish deferred migration"
  }

  /// The running operation of the thread.
  @TaskLocal static var current: StoreOperation?

  private let statements = LockProtected(0)

  /// Called by the thread that runs the operation.
  func add(statements count: Int) { statements.withLock { $0 += count } }

  /// Runs an operation within a span.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity; nil if there may be several.
  ///   - describe: Returns the number of rows of the result, if it has any, and adds further attributes to the span.
  static func run<T>(
    _ kind: Kind, of entity: String?, in store: StoreName, telemetry: StoreTelemetry,
    describe: (T, inout SpanAttributes) -> Int? = { _, _ in nil }, _ body: () throws -> T
  ) throws -> T {
    telemetry.reportWaitForThread()
    let span = telemetry.tracer.startSpan(entity.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue, ofKind: .client)
    let operation = StoreOperation()
    let begin = ContinuousClock.now
    var (rows, failure): (Int?, String?)
    defer {
      let statements = operation.statements.withLock { $0 }
      telemetry.meters.record(
        StoreMeters.Operation(store: store, kind: kind, entity: entity, failure: failure), .now - begin, rows: rows,
        statements: statements)
      span.updateAttributes { attributes in
        store.describe(in: &attributes)
        attributes["db.operation.name"] = kind.rawValue
        if let entity { attributes["db.collection.name"] = entity }
        if let rows { attributes["db.response.returned_rows"] = rows }
        if let failure { attributes["error.type"] = failure }
        attributes["persist.statements"] = statements
      }
      if failure != nil { span.setStatus(SpanStatus(code: .error)) }
      span.end()
    }
    do {
      let result = try ServiceContext.withValue(span.context) { try $current.withValue(operation, operation: body) }
      span.updateAttributes { rows = describe(result, &$0) }
      return result
    } catch {
      failure = failureName(error)
      throw error
    }
  }

  /// The name of an error without its values.
  private static func failureName(_ error: any Error) -> String {
    switch error {
    case let error as PersistenceError: error.code.name
    case is RowConflicts: PersistenceError.Code.mergeConflict.name
    default: String(describing: type(of: error))
    }
  }
}

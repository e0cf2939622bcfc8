/// The rows that a query found, in order.
struct RowBatch: Sendable {
  /// One row: its key, its own entity, and what it held.
  struct Row: Sendable {
    let key: Int64
    /// Index of the row's own entity in ``ManagedObjectModel/entities``.
    let entityIndex: Int
    /// Nil where only keys were asked for.
    let snapshot: RowSnapshot?
  }

  var rows: [Row] = []
}

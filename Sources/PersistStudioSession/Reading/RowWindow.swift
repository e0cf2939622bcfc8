import Persist

/// Some rows of the grid.
struct RowWindow {
  struct Row {
    let id: ManagedObjectID
    /// The cells in the order of the columns; nil if the row no longer exists.
    let cells: [RowCell]?
  }

  let rows: [Row]

  /// Reads the rows of objects.
  init(
    _ ids: [ManagedObjectID], of entity: Entity, columns: [RowColumn], naming: [String: String],
    from store: StudioStore, in context: ManagedObjectContext
  ) throws {
    let leaves = columns.flatMap(\.leaves)
    let relationships = columns.compactMap(\.relationship)
    let read = try LeafReader(entity: entity, store: store, context: context).read(
      ids, leaves: leaves, relationships: relationships)
    let targets = read.values.flatMap { values in
      values.relationships.compactMap { if case .objectID(let id) = $0 { id } else { nil } }
    }
    let names = try ObjectNames(chosen: naming, store: store, context: context).names(of: targets)
    rows = ids.map { id in
      guard let key = id.primaryKey, let values = read[key] else { return Row(id: id, cells: nil) }
      var own = values.leaves[...]
      var related = values.relationships[...]
      return Row(id: id, cells: columns.map { Self.cell($0, own: &own, related: &related, names) })
    }
  }

  private static func cell(
    _ column: RowColumn, own: inout ArraySlice<LeafReader.Value>, related: inout ArraySlice<StoredValue>,
    _ names: [ManagedObjectID: String]
  ) -> RowCell {
    switch column.content {
    case .attribute: return own.popFirst().map { RowCell($0) } ?? .null
    case .composite(let leaves): return RowCell(leaves.compactMap { leaf in own.popFirst().map { (leaf, $0) } })
    case .toOne, .toMany:
      let value = related.popFirst() ?? .null
      if case .objectID(let id) = value { return .object(id, name: names[id]) }
      return RowCell(.value(value))
    }
  }
}

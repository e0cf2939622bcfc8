package import Foundation

/// The adaptation of a history's columns to another model, as data.
package struct HistoryColumnsMove: Sendable {
  /// A migration whose renames are known.
  package struct Migration: Sendable {
    /// The layout before the migration.
    package let former: TableMap
    package let renames: PropertyRenames

    package init(former: TableMap, renames: PropertyRenames) {
      self.former = former
      self.renames = renames
    }
  }

  /// The adaptation of the bits of changed columns.
  package enum BitsMove: Sendable {
    /// They have the same meaning as before.
    case none
    /// They can no longer be interpreted.
    case forgotten
    /// Those that Persist wrote have other places; others can no longer be interpreted.
    case translated(BitsTranslation)
  }

  /// The translation of the bits of changed columns to another layout. Properties without a place there are left out.
  package struct BitsTranslation: Sendable {
    fileprivate let former: ChangedColumns
    fileprivate let columns: ChangedColumns
    /// The new names of properties by their old ones.
    fileprivate let newNames: [String: String]

    /// The new bits; nil if the old ones can't be interpreted.
    package func translated(_ bits: Data) -> Data? { former.translated(bits, to: columns, newNames) }
  }

  /// The adaptation of one entity's entries.
  package struct EntityMove: Sendable {
    /// The number of the entity in the new model.
    package let number: Int
    package let changedColumns: BitsMove
    /// The former columns of the values kept of deleted objects, in the order of the new columns; a nil element
    /// represents an attribute whose values weren't kept. Nil if nothing changes.
    package let tombstones: [(index: Int, mark: MarkChange)?]?
  }

  package let entities: [EntityMove]

  init(entities: [EntityMove]) { self.entities = entities }

  /// - Parameters:
  ///   - record: The former meaning of the columns.
  ///   - migration: Nil if the migration isn't known: equal names then have equal meanings.
  package init(from record: HistoryDescription, to map: TableMap, by migration: Migration? = nil) {
    let description = HistoryDescription(map)
    let names = migration?.renames.entities.map { ($0.value, $0.key) } ?? []
    let oldNames = Dictionary(names, uniquingKeysWith: { first, second in min(first, second) })
    entities = map.model.entities.map { entity in
      let former = FormerColumns(record, of: migration == nil ? entity.name : oldNames[entity.name], migration)
      return EntityMove(
        number: map.numbers[entity],
        changedColumns: former.move(
          to: ChangedColumns(of: entity, in: map), ofDigest: description.columns[entity.name]),
        tombstones: former.moves(to: description.preserved[entity.name] ?? [], of: entity, in: map))
    }
  }
}

/// The former meaning of the columns for one entity, in the names of the new model.
private struct FormerColumns {
  /// The digest of the properties that bits represent; nil if they can't all be named.
  private let changedColumns: Data?
  /// The bits with the new names of their properties; nil if the layout before the migration isn't known.
  private let bits: (columns: ChangedColumns, newNames: [String: String])?
  /// The attributes whose values are kept; nil for those that were removed.
  private let preserved: [String?]
  /// The preserved attributes before the migration, by their new names.
  private let attributes: [String: AttributeDescription]

  /// - Parameter name: The former name of the entity; nil for a new one.
  init(_ record: HistoryDescription, of name: String?, _ migration: HistoryColumnsMove.Migration?) {
    let recorded = name.flatMap { record.preserved[$0] } ?? []
    let digest = name.flatMap { record.columns[$0] }
    guard let migration else {
      changedColumns = digest
      bits = nil
      preserved = recorded
      attributes = Dictionary()
      return
    }
    let newNames = name.flatMap { migration.renames.properties[$0] } ?? Dictionary()
    preserved = recorded.map { newNames[$0] }
    guard let entity = name.flatMap({ migration.former.model.entitiesByName[$0] }) else {
      changedColumns = nil
      bits = nil
      attributes = Dictionary()
      return
    }
    let pairs = PreservedAttribute.all(of: entity, in: migration.former).compactMap { old in
      newNames[old.name].map { ($0, old.attribute) }
    }
    attributes = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    // The record has only digests, and can be translated only if it describes the layout before the migration.
    let columns = ChangedColumns(of: entity, in: migration.former)
    // Names don't tell which values a transformation changed.
    let isKnown = !migration.renames.transformsValues && digest == HistoryDescription.digest(of: columns.order)
    let renamed = columns.order.compactMap { newNames[$0] }
    changedColumns = isKnown && renamed.count == columns.order.count ? HistoryDescription.digest(of: renamed) : nil
    bits = isKnown ? (columns, newNames) : nil
  }

  /// The adaptation of bits to the new layout.
  ///
  /// - Parameter columns: The new layout, which is needed only for a translation.
  func move(to columns: @autoclosure () -> ChangedColumns, ofDigest digest: Data?) -> HistoryColumnsMove.BitsMove {
    if let changedColumns, changedColumns == digest { return .none }
    guard let bits else { return .forgotten }
    return .translated(
      HistoryColumnsMove.BitsTranslation(former: bits.columns, columns: columns(), newNames: bits.newNames))
  }

  /// The former columns of the kept values of attributes; nil if nothing changes.
  func moves(
    to current: [String], of entity: Entity, in map: TableMap
  ) -> [(index: Int, mark: MarkChange)?]? {
    let marks = PreservedAttribute.all(of: entity, in: map).reduce(into: [String: MarkChange]()) { marks, new in
      let mark = attributes[new.name].map { MarkChange(from: $0, to: new.attribute) } ?? .same
      if mark != .same { marks[new.name] = mark }
    }
    guard preserved != current.map(Optional.some) || !marks.isEmpty else { return nil }
    let places = current.map { name in
      preserved.firstIndex(of: name).map { (index: $0, mark: marks[name] ?? .same) }
    }
    return places + Array(repeating: nil, count: max(0, preserved.count - current.count))
  }
}
